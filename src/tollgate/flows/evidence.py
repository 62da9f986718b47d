"""Evidence for chargebacks: notes and files are checked, sealed, and opened again.

Who may see them is decided by the back office.
"""

from tollgate.catalog import card_numbers, limits, results
from tollgate.operations.app import App
from tollgate.payments import following, payment
from tollgate.store import evidence
from tollgate.store.evidence import Evidence
from tollgate.values import Fault, InvalidParameters, make_id
from tollgate.vault.sealing import make_owner, open_sealed, seal

EVIDENCE_NOUN = "evidence"
"""Names the owner of what is sealed in a row of evidence."""
DISPUTES = frozenset({following.Action.CHARGEBACK, following.Action.REPEATED_CHARGEBACK})

TEXT_TYPE = "text/plain; charset=utf-8"
_MARKS = ((b"%PDF-", "application/pdf"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
"""The first bytes of each kind of file: what a browser says about a file is not trusted."""
_NAME_LENGTH_MAX = 120


def find_content_type(content: bytes) -> str | None:
    """Finds what a file is by its content; None for what is not accepted."""
    for mark, content_type in _MARKS:
        if content.startswith(mark):
            return content_type
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return TEXT_TYPE if text.strip() and "\0" not in text else None


def clean_name(name: str) -> str:
    """Returns a name for a download: one line without slashes, and without the number of a card."""
    shown = "".join(each if each.isprintable() and each not in '/\\"' else "_" for each in name).strip()
    return card_numbers.hide_card_numbers(shown[:_NAME_LENGTH_MAX]) or "note"


async def add_evidence(app: App, chargeback: payment.Payment, name: str, content: bytes, added_by: str) -> Evidence:
    """Keeps a note or a file with a chargeback."""
    content_type = find_content_type(content)
    if chargeback.action not in DISPUTES:
        raise _refuse("evidence is kept with a chargeback")
    if len(content) > limits.LIMITS.evidence_bytes_max:
        raise _refuse(f"a file has up to {limits.LIMITS.evidence_bytes_max // 1024 // 1024} MB")
    if content_type is None:
        raise _refuse("must be a PDF, a PNG or JPEG picture, or text in UTF-8")
    known = await evidence.list_evidence(app.database, chargeback.merchant_id, chargeback.id)
    if len(known) >= limits.LIMITS.evidence_per_dispute_max:
        raise _refuse(f"a dispute has up to {limits.LIMITS.evidence_per_dispute_max} pieces of evidence")
    if content_type == TEXT_TYPE:
        content = card_numbers.hide_card_numbers(content.decode()).encode()
    new = Evidence(
        merchant_id=chargeback.merchant_id,
        id=make_id(app.random_bytes),
        payment_id=chargeback.id,
        added_by=added_by,
        added_at=app.clock.now(),
        name=clean_name(name),
        content_type=content_type,
    )
    sealed = seal(content, owner=_make_owner(new), keyring=app.keyring)
    await evidence.insert_evidence(app.database, new, sealed)
    return new


async def open_evidence(app: App, kept: Evidence) -> bytes:
    sealed = await evidence.get_content(app.database, kept)
    return open_sealed(sealed, owner=_make_owner(kept), keyring=app.keyring)


def _make_owner(kept: Evidence) -> str:
    return make_owner(EVIDENCE_NOUN, kept.merchant_id, kept.id)


def _refuse(message: str) -> InvalidParameters:
    return results.make_invalid(Fault("evidence", message))
