"""SEPA files for banks: pain.008.001.08 (CORE) and pain.001.001.09; the same facts give the same bytes.

Which instructions belong into a file is decided elsewhere.
"""

import re
import unicodedata
from collections.abc import Sequence as Series
from datetime import UTC, date, datetime
from enum import StrEnum
from xml.etree import ElementTree as Tree

import msgspec

from tollgate.payments.accounts import BankAccount
from tollgate.payments.merchants import Creditor
from tollgate.payments.order import Sequence
from tollgate.values import render_hundredths

NAME_MAX = 70
REMITTANCE_MAX = 140
NOT_PROVIDED = "NOTPROVIDED"

_SPELLED = str.maketrans(
    {
        "Ä": "Ae",
        "Ö": "Oe",
        "Ü": "Ue",
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "Æ": "AE",
        "æ": "ae",
        "Œ": "OE",
        "œ": "oe",
        "Ø": "O",
        "ø": "o",
        "Ð": "D",
        "ð": "d",
        "Þ": "TH",
        "þ": "th",
        "Ł": "L",
        "ł": "l",
        "Đ": "D",
        "đ": "d",
        "ı": "i",  # noqa: RUF001, the Turkish one
        "&": "+",
        "_": "-",
        "*": ".",
        "€": "E",
        "’": "'",  # noqa: RUF001, typographic on purpose
        "–": "-",  # noqa: RUF001
        "—": "-",
    }
)
_BLANKS = re.compile(r"\s+")
_FOREIGN = re.compile(r"[^A-Za-z0-9/?:().,'+ -]")
_SLASHES = re.compile("/{2,}")


def write_text(text: str, length_max: int) -> str:
    """Spells a text in the letters of SEPA; other characters become full stops, as banks do it. It is never empty.

    A text neither begins nor ends with a slash nor has two in a row, because those have a meaning to banks.
    """
    spelled = unicodedata.normalize("NFC", text).translate(_SPELLED)
    plain = "".join(each for each in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(each))
    written = _SLASHES.sub("/", _FOREIGN.sub(".", _BLANKS.sub(" ", plain)))
    return written.strip(" /")[:length_max].strip(" /") or NOT_PROVIDED


_BIC = re.compile("[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")


class Scheme(StrEnum):
    """The kind of a file; the values are stored."""

    DEBITS = "pain.008"
    CREDITS = "pain.001"


_NAMESPACES = {
    Scheme.DEBITS: "urn:iso:std:iso:20022:tech:xsd:pain.008.001.08",
    Scheme.CREDITS: "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09",
}
_ROOTS = {Scheme.DEBITS: "CstmrDrctDbtInitn", Scheme.CREDITS: "CstmrCdtTrfInitn"}


class FileHead(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that all entries of a file share."""

    message_id: str
    created_at: datetime
    scheme: Scheme
    creditor: Creditor
    due_on: date
    sequence: Sequence
    currency: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """The payment's id; banks repeat it when they send the money back."""
    amount: int
    account: BankAccount
    mandate_id: str
    signed_on: date
    purpose: str


def build_file(head: FileHead, entries: Series[Entry]) -> bytes:
    if not entries:
        raise ValueError("a file without entries means nothing to a bank")
    document = Tree.Element("Document", xmlns=_NAMESPACES[head.scheme])
    root = _add(document, _ROOTS[head.scheme])
    total = sum(entry.amount for entry in entries)
    group = _add(root, "GrpHdr")
    _add(group, "MsgId", head.message_id)
    _add(group, "CreDtTm", head.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    _add_sums(group, len(entries), total)
    _add(group, "InitgPty/Nm", write_text(head.creditor.name, NAME_MAX))
    batch = _add(root, "PmtInf")
    _add(batch, "PmtInfId", head.message_id)
    _add(batch, "PmtMtd", "DD" if head.scheme is Scheme.DEBITS else "TRF")
    _add(batch, "BtchBookg", "true")
    _add_sums(batch, len(entries), total)
    write = _write_debits if head.scheme is Scheme.DEBITS else _write_credits
    write(batch, head, entries)
    written: bytes = Tree.tostring(document, encoding="UTF-8", xml_declaration=True)
    return written + b"\n"


def _write_debits(batch: Tree.Element, head: FileHead, entries: Series[Entry]) -> None:
    kind = _add(batch, "PmtTpInf")
    _add(kind, "SvcLvl/Cd", "SEPA")
    _add(kind, "LclInstrm/Cd", "CORE")
    _add(kind, "SeqTp", head.sequence.value)
    _add(batch, "ReqdColltnDt", head.due_on.isoformat())
    _add_party(batch, "Cdtr", head.creditor.name, head.creditor.iban)
    _add_bank(batch, "CdtrAgt", head.creditor.bic)
    _add(batch, "ChrgBr", "SLEV")
    scheme = _add(batch, "CdtrSchmeId/Id/PrvtId/Othr")
    _add(scheme, "Id", head.creditor.identifier)
    _add(scheme, "SchmeNm/Prtry", "SEPA")
    for entry in entries:
        debit = _add(batch, "DrctDbtTxInf")
        _add(debit, "PmtId/EndToEndId", entry.id)
        _add(debit, "InstdAmt", render_hundredths(entry.amount)).set("Ccy", head.currency)
        mandate = _add(debit, "DrctDbtTx/MndtRltdInf")
        _add(mandate, "MndtId", entry.mandate_id)
        _add(mandate, "DtOfSgntr", entry.signed_on.isoformat())
        _add_bank(debit, "DbtrAgt", entry.account.bic)
        _add_party(debit, "Dbtr", entry.account.holder, _reveal_iban(entry))
        _add(debit, "RmtInf/Ustrd", write_text(entry.purpose, REMITTANCE_MAX))


def _write_credits(batch: Tree.Element, head: FileHead, entries: Series[Entry]) -> None:
    _add(batch, "PmtTpInf/SvcLvl/Cd", "SEPA")
    _add(batch, "ReqdExctnDt/Dt", head.due_on.isoformat())
    _add_party(batch, "Dbtr", head.creditor.name, head.creditor.iban)
    _add_bank(batch, "DbtrAgt", head.creditor.bic)
    _add(batch, "ChrgBr", "SLEV")
    for entry in entries:
        credit = _add(batch, "CdtTrfTxInf")
        _add(credit, "PmtId/EndToEndId", entry.id)
        _add(credit, "Amt/InstdAmt", render_hundredths(entry.amount)).set("Ccy", head.currency)
        _add_bank(credit, "CdtrAgt", entry.account.bic)
        _add_party(credit, "Cdtr", entry.account.holder, _reveal_iban(entry))
        _add(credit, "RmtInf/Ustrd", write_text(entry.purpose, REMITTANCE_MAX))


def _add(parent: Tree.Element, path: str, text: str | None = None) -> Tree.Element:
    """Adds a new element for every step of the path, and returns the last one."""
    for name in path.split("/"):
        parent = Tree.SubElement(parent, name)
    parent.text = text
    return parent


def _add_sums(parent: Tree.Element, count: int, total: int) -> None:
    _add(parent, "NbOfTxs", str(count))
    _add(parent, "CtrlSum", render_hundredths(total))


def _add_party(parent: Tree.Element, role: str, name: str | None, iban: str) -> None:
    _add(parent, f"{role}/Nm", write_text(name or "", NAME_MAX))
    _add(parent, f"{role}Acct/Id/IBAN", iban.upper())


def _add_bank(parent: Tree.Element, role: str, bic: str | None) -> None:
    """Names a bank by its BIC; without one it is found by the IBAN."""
    if bic is not None and _BIC.fullmatch(bic.upper()):
        _add(parent, f"{role}/FinInstnId/BICFI", bic.upper())
    else:
        _add(parent, f"{role}/FinInstnId/Othr/Id", NOT_PROVIDED)


def _reveal_iban(entry: Entry) -> str:
    if entry.account.iban is None:
        raise ValueError(f"the account of payment {entry.id} has no IBAN")
    return entry.account.iban.reveal()
