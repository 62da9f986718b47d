"""Every row of the settings refuses nonsense by its name, whether a flag or a variable brought it."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tollgate.cli.program import program, read_settings
from tollgate.config import SETTINGS, Setting, Settings, load_settings

NONSENSE = (
    *("loud", "70000", "nan", "inf", "-1", "1e999", "9" * 400, "9" * 5000),
    *("http:/wrong", "gopher://host/x", "https://user:secret@host", "a\nb", "\x1b[31m", "٣", " "),
)
_PATHS = {"loud", "70000", "nan", "inf", "-1", "1e999", "9" * 400, "http:/wrong", "gopher://host/x", "٣"}
_PATHS |= {"https://user:secret@host"}
_NAMES = {"loud", "nan", "inf", "1e999"}
SENSIBLE = {
    **dict.fromkeys(("host", "metrics_host"), _NAMES),
    **dict.fromkeys(("data", "tls_cert", "tls_key", "key_file", "archive", "outbound_ca"), _PATHS),
    "four_eyes": {"loud", "nan", "inf"},
}
"""These look like nonsense and may be the name of a machine, of a file or of an action."""


def list_nonsense(row: Setting) -> list[str]:
    return [text for text in NONSENSE if text not in SENSIBLE.get(row.member, ())]


def check(folder: Path, *flags: str, **variables: str) -> tuple[int, str]:
    """Runs `tollgate check`; whatever is not said in words would be a traceback and is raised."""
    given = {"TOLLGATE_DATA": str(folder), **variables}
    done = CliRunner().invoke(program, ["check", *flags], env=given, catch_exceptions=False)
    return done.exit_code, done.output


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.member)
def test_nonsense_is_refused_by_the_name_of_its_row(row: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in list_nonsense(row):
        with pytest.raises(click.UsageError, match=row.flag) as refused:
            read_settings({row.member: text})
        assert "secret" not in refused.value.message
        monkeypatch.setenv(row.variable, text)
        with pytest.raises(click.UsageError, match=row.flag):
            read_settings({})
        monkeypatch.delenv(row.variable)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.member)
def test_a_command_ends_with_status_2_and_touches_nothing(row: Setting, tmp_path: Path) -> None:
    code, said = check(tmp_path, **{row.variable: " "})

    assert (code, row.flag in said) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.member)
def test_an_empty_variable_is_not_given_and_an_empty_flag_is_refused(row: Setting, tmp_path: Path) -> None:
    assert load_settings({}, {row.variable: ""}) == Settings()
    if not isinstance(getattr(Settings(), row.member), bool):
        code, said = check(tmp_path, row.flag, "")
        assert (code, row.flag in said) == (2, True)


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.member)
def test_the_default_of_a_row_is_sensible_itself(row: Setting) -> None:
    default = getattr(Settings(), row.member)

    assert default in ("", 0, False) or getattr(load_settings({row.member: default}, {}), row.member) == default


@pytest.mark.parametrize(
    ("member", "texts"),
    [
        ("host", ["127.0.0.1", "::", "::1", "0.0.0.0", "localhost", "pay-1.example.com"]),
        ("port", ["1", "65535"]),
        ("database", ["sqlite:///x.db", "sqlite:////var/x.db", "postgresql://u:p%40@db1:5432,db2/tollgate"]),
        ("database", ["postgresql://u@/tollgate?host=/run/pg&port=5433", "postgres://[::1]:5432/x"]),
        ("trusted_proxy", ["10.0.0.5", "10.0.0.0/8, 192.168.1.1", "::1"]),
        ("public_url", ["https://pay.example.com", "https://[::1]:8443/gateway", "http://127.0.0.1:8080"]),
        ("acquirer_timeout_s", ["0.3", "30", "300"]),
        ("workers", ["1", "64"]),
        ("outbound_ports", ["443", "443,8443,9443", "443, 65535"]),
    ],
)
def test_what_operators_write_is_taken(member: str, texts: list[str]) -> None:
    for text in texts:
        assert str(getattr(load_settings({member: text}, {}), member)).startswith(text)


@pytest.mark.parametrize(
    ("member", "texts"),
    [
        ("host", ["127.0.0.256", "1.2.3", "a b", "-x", "http://host"]),
        ("port", ["0", "65536", "80.5", "8_0", "+80"]),
        ("database", ["sqlite:///", "postgresql://db:70000/x", "postgresql://db:x/x", "tollgate.db", "mysql://h/x"]),
        ("read_database", ["sqlite:///x.db", "postgresql://db1,db2/x", "postgresql:///x?host=db1,db2"]),
        ("trusted_proxy", ["*", "0.0.0.0/0", "::/0", "proxy", "10.0.0.5,", "10.0.0.1/8"]),
        ("public_url", ["https://", "https://h:70000", "https://h/?a=1", "https://h#x", "//h", "https://h/a b"]),
        ("workers", ["0", "257"]),
        ("outbound_ports", ["0", "443,", ",443", "443,65536", "443 8443", "https", "443-445"]),
        ("acquirer_timeout_s", ["0", "301", "-0.0", "1e1"]),
        ("throttles", ["create_payment", "nobody=1/1", "query=0/1", "query=1/²"]),
    ],
)
def test_what_lies_just_beside_the_range_is_refused(member: str, texts: list[str], tmp_path: Path) -> None:
    flag = "--" + member.replace("_", "-")
    for text in texts:
        code, said = check(tmp_path, f"{flag}={text}")
        assert (code, flag in said) == (2, True), text
