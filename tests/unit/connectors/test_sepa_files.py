"""Files for banks: valid by their schema whatever the names and texts are, and the same bytes for the same facts."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import as_file, files
from xml.etree import ElementTree as Tree

import msgspec
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from tollgate.connectors.sepa_files import Entry, FileHead, Scheme, build_file, write_text
from tollgate.payments.accounts import BankAccount
from tollgate.payments.merchants import Creditor
from tollgate.payments.order import Sequence
from tollgate.values import Secret

SCHEMAS = {Scheme.DEBITS: "pain.008.001.08.xsd", Scheme.CREDITS: "pain.001.001.09.xsd"}
IBANS = ["DE89370400440532013000", "AT611904300234573201", "ES9121000418450200051332", "NL91ABNA0417164300"]
CREDITOR = Creditor(
    name="Müller & Söhne", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999"
)
HEAD = FileHead(
    message_id="8a" + "0" * 30,
    created_at=datetime(2026, 11, 15, 12, 0, tzinfo=UTC),
    scheme=Scheme.DEBITS,
    creditor=CREDITOR,
    due_on=date(2026, 11, 18),
    sequence=Sequence.ONCE,
    currency="EUR",
)


def make_entry(
    number: int = 1,
    *,
    amount: int = 9200,
    holder: str | None = "Jane Jones",
    bic: str | None = None,
    purpose: str = "Shop",
) -> Entry:
    account = BankAccount(holder=holder, iban=Secret(IBANS[number % len(IBANS)]), bic=bic)
    return Entry(
        id=f"8a{number:030d}",
        amount=amount,
        account=account,
        mandate_id="M-ONE",
        signed_on=date(2026, 11, 1),
        purpose=purpose,
    )


@cache
def get_schema(scheme: Scheme) -> xmlschema.XMLSchema:
    with as_file(files("sepaxml") / "schemas" / SCHEMAS[scheme]) as path:
        return xmlschema.XMLSchema(path)


def make_head(scheme: Scheme, **changes: object) -> FileHead:
    return msgspec.structs.replace(HEAD, scheme=scheme, **changes)


def read_all(body: bytes, name: str) -> list[str]:
    return [element.text or "" for element in Tree.fromstring(body).iterfind(f".//{{*}}{name}")]


@pytest.mark.parametrize("scheme", Scheme)
@given(
    entries=st.lists(
        st.builds(
            make_entry,
            st.integers(0, 10**9),
            amount=st.integers(1, 99_999_999_999),
            holder=st.none() | st.text(max_size=200),
            bic=st.sampled_from([None, "COBADEFF", "cobadeffxxx", "nonsense"]),
            purpose=st.text(max_size=200),
        ),
        min_size=1,
        max_size=5,
    ),
    name=st.text(max_size=100),
    sequence=st.sampled_from(Sequence),
)
def test_a_file_is_valid_by_its_schema_whatever_it_says(
    scheme: Scheme, entries: list[Entry], name: str, sequence: Sequence
) -> None:
    creditor = Creditor(name=name, iban=CREDITOR.iban, bic=CREDITOR.bic, identifier=CREDITOR.identifier)

    body = build_file(make_head(scheme, creditor=creditor, sequence=sequence), entries)

    get_schema(scheme).validate(Tree.fromstring(body))
    assert read_all(body, "NbOfTxs") == [str(len(entries))] * 2
    total = sum(entry.amount for entry in entries)
    assert read_all(body, "CtrlSum") == [f"{total // 100}.{total % 100:02d}"] * 2


@given(st.text(max_size=300))
def test_a_text_has_only_letters_that_banks_can_write(text: str) -> None:
    written = write_text(text, 70)

    assert 1 <= len(written) <= 70
    assert set(written) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-?:().,'+ ")
    assert "//" not in written
    assert written == written.strip(" /")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Müller & Söhne", "Mueller + Soehne"),
        ("José Ñandú", "Jose Nandu"),
        ("Łukasz Øye", "Lukasz Oye"),
        ("  a\n b ", "a b"),
        ("<script>", ".script."),
        ("王", "."),
        ("//x//y//", "x/y"),
        ("", "NOTPROVIDED"),
    ],
)
def test_other_letters_are_spelled_out(text: str, written: str) -> None:
    assert write_text(text, 70) == written


def test_a_debit_says_who_is_debited_by_which_mandate() -> None:
    body = build_file(HEAD, [make_entry(0, bic="COBADEFF")])

    assert read_all(body, "EndToEndId") == [f"8a{0:030d}"]
    assert read_all(body, "InstdAmt") == ["92.00"]
    assert read_all(body, "MndtId") == ["M-ONE"]
    assert read_all(body, "DtOfSgntr") == ["2026-11-01"]
    assert read_all(body, "SeqTp") == ["OOFF"]
    assert read_all(body, "ReqdColltnDt") == ["2026-11-18"]
    assert read_all(body, "IBAN") == [CREDITOR.iban, IBANS[0]]
    assert read_all(body, "BICFI") == ["BYLADEM1001", "COBADEFF"]
    assert read_all(body, "LclInstrm") != []


def test_a_credit_goes_from_the_creditor_to_the_account() -> None:
    body = build_file(make_head(Scheme.CREDITS), [make_entry(0)])
    batch = Tree.fromstring(body).find(".//{*}PmtInf")

    assert batch is not None
    assert batch.findtext("{*}DbtrAcct/{*}Id/{*}IBAN") == CREDITOR.iban
    assert batch.findtext("{*}CdtTrfTxInf/{*}CdtrAcct/{*}Id/{*}IBAN") == IBANS[0]
    assert batch.findtext("{*}ReqdExctnDt/{*}Dt") == "2026-11-18"


def test_the_same_facts_make_the_same_bytes() -> None:
    entries = [make_entry(number) for number in range(20)]

    assert build_file(HEAD, entries) == build_file(HEAD, entries)


def test_a_file_needs_entries_and_an_entry_an_iban() -> None:
    with pytest.raises(ValueError, match="without entries"):
        build_file(HEAD, [])
    bare = Entry(
        id="8a1", amount=1, account=BankAccount(holder="Jane"), mandate_id="M", signed_on=date(2026, 1, 1), purpose=""
    )
    with pytest.raises(ValueError, match="8a1 has no IBAN"):
        build_file(HEAD, [bare])
