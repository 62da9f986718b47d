"""The command decrypt, which opens and verifies the body of a webhook and explains one that is refused.

It needs no store; what can be wrong is known in `vault`.
"""

import sys
from pathlib import Path

import click
import msgspec

from tollgate.cli.program import program
from tollgate.values import SECOND, Secret, SystemClock
from tollgate.vault.body_explaining import NOT_JSON, Explanation, explain_body
from tollgate.vault.signature_explaining import explain_signature

_BODY_BYTES_MAX = 16 * 1024 * 1024
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@program.command("decrypt")
@click.argument("body", required=False)
@click.option("--file", "path", type=_FILE, help="Read the body from this file; without it and BODY, from the input.")
@click.option("--secret", envvar="TOLLGATE_WEBHOOK_SECRET", metavar="HEX", help="The endpoint's secret, 64 hex digits.")
@click.option("--iv", metavar="HEX", help="The header X-Initialization-Vector.")
@click.option("--tag", metavar="HEX", help="The header X-Authentication-Tag.")
@click.option("--signing-secret", envvar="TOLLGATE_WEBHOOK_SIGNING_SECRET", metavar="TEXT", help="The secret whsec_...")
@click.option("--signature", help="The header webhook-signature; it is verified before the body is decrypted.")
@click.option("--id", "event_id", default="", help="The header webhook-id.")
@click.option("--timestamp", default="", help="The header webhook-timestamp.")
def decrypt(
    body: str | None,
    path: Path | None,
    secret: str | None,
    iv: str | None,
    tag: str | None,
    signing_secret: str | None,
    signature: str | None,
    event_id: str,
    timestamp: str,
) -> None:
    """Print the event in the BODY of a webhook, or explain why it does not open or is not authentic.

    With --signature the body is verified. It is decrypted if --iv or --tag is given, or if there is no signature.
    """
    if body is not None and path is not None:
        raise click.UsageError("give the body or --file, not both")
    is_encrypted = signature is None or iv is not None or tag is not None
    # Asked for before the body is read, because both may come from the terminal.
    signing = _read_secret(signing_secret, "--signing-secret") if signature is not None else None
    key = _read_secret(secret, "--secret") if is_encrypted else None
    content = _read_body(body, path)
    if signing is not None:
        now_s = SystemClock().wall() // SECOND
        verified = explain_signature(content, event_id, timestamp, signature or "", signing, now_s)
        _report(verified, is_shown=not is_encrypted)
    if key is not None:
        _report(explain_body(content, iv, tag, key))


def _read_secret(given: str | None, option: str) -> Secret:
    if given is None and not _is_terminal():
        variable = f"TOLLGATE_WEBHOOK{option[1:].upper().replace('-', '_')}"
        raise click.UsageError(f"{option} or the variable {variable} is missing")
    return Secret(click.prompt(option.strip("-"), hide_input=True, err=True) if given is None else given)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _read_body(body: str | None, path: Path | None) -> bytes:
    """Returns the body without the line break that an editor or a shell adds to it."""
    if body is not None:
        return body.encode("utf-8", "surrogateescape")
    with click.open_file(str(path or "-"), "rb") as stream:
        content: bytes = stream.read(_BODY_BYTES_MAX + 1)
    if len(content) > _BODY_BYTES_MAX:
        raise click.UsageError(f"the body has more than {_BODY_BYTES_MAX} bytes")
    return content.removesuffix(b"\n").removesuffix(b"\r")


def _report(explained: Explanation, *, is_shown: bool = True) -> None:
    """Prints the event for programs, and all remarks for people; a fault ends the command."""
    if explained.plain is not None and is_shown:
        click.echo(_render(explained.plain))
    for line in explained.notes:
        click.echo(f"note: {line}", err=True)
    if explained.fault is not None:
        click.echo(f"tollgate: {explained.fault}", err=True)
        sys.exit(1)


def _render(plain: bytes) -> bytes:
    try:
        return msgspec.json.format(plain, indent=2)
    except NOT_JSON:
        return plain
