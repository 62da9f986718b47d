"""Returns of banks, read from pain.002 (refused) and camt.054 (booked and returned) in any version.

What a return does to a payment is decided elsewhere.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from xml.etree import ElementTree as Tree
from xml.parsers import expat

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.values import render_hundredths

UNSTATED = "NARR"
"""The banks' own code for a reason in free text."""

_REFUSED = frozenset({"RJCT"})
_STATUS_ROOT, _NOTICE_ROOT = "CstmrPmtStsRpt", "BkToCstmrDbtCdtNtfctn"
_NOTICE_NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"
_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,2})0{0,3})?")
"""The standard writes up to five decimals, of which a euro has two."""


class BankReturn(msgspec.Struct, frozen=True, kw_only=True):
    """One entry that a bank refused or returned."""

    id: str
    """The EndToEndId, which is the payment's id; empty where a bank refuses a whole file."""
    message_id: str
    """The file's id, where the bank repeats it."""
    reason: str
    amount: int | None
    """The amount in hundredths; some banks do not repeat it."""
    currency: str | None


def read_returns(text: bytes) -> list[BankReturn]:
    """Raises ValueError with the place for a text that is neither of both kinds."""
    document = _read_tree(text)
    body = next(iter(document), None)
    if document.tag != "Document" or body is None:
        raise ValueError(f"<{document.tag}> is no ISO 20022 document")
    match body.tag:
        case "CstmrPmtStsRpt":
            return list(_read_status_report(body))
        case "BkToCstmrDbtCdtNtfctn":
            return list(_read_notification(body))
        case _:
            raise ValueError(f"<Document>/<{body.tag}> is neither pain.002 nor camt.054")


# ---- the tree ----


def _read_tree(text: bytes) -> Tree.Element:
    """Reads elements without their namespace. Document types and entities are refused; no bank needs any."""
    if len(text) > LIMITS.bank_file_bytes_max:
        raise ValueError(f"the file has more than {LIMITS.bank_file_bytes_max} bytes")
    parser = expat.ParserCreate(namespace_separator=" ")
    builder = Tree.TreeBuilder()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > LIMITS.bank_file_depth_max:
            raise ValueError(f"line {parser.CurrentLineNumber}: elements are nested too deeply")
        builder.start(_bare(name), attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_bare(name))

    def refuse(*_: object) -> None:
        raise ValueError(f"line {parser.CurrentLineNumber}: a document type or an entity has no place here")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except LookupError:
        raise ValueError("line 1: not in an encoding that is known") from None
    except expat.ExpatError as fault:
        raise ValueError(f"line {fault.lineno}: not XML ({expat.ErrorString(fault.code)})") from None
    return builder.close()


def _bare(name: str) -> str:
    return name.rpartition(" ")[2]


def _find_text(element: Tree.Element, *paths: str) -> str | None:
    """Finds the text of the first path that has one."""
    for path in paths:
        found = element.findtext(path)
        if found is not None and found.strip():
            return found.strip()
    return None


def _choose_amount(element: Tree.Element, *paths: str) -> tuple[int, str] | None:
    for path in paths:
        found = element.find(path)
        if found is not None:
            return _read_amount(path, found)
    return None


def _read_amount(path: str, element: Tree.Element) -> tuple[int, str]:
    written, currency = (element.text or "").strip(), element.get("Ccy", "")
    match = _AMOUNT.fullmatch(written)
    if match is None or not currency:
        raise ValueError(f"<{path}> {written[:40]!r} {currency[:3]!r} is no amount")
    return int(match[1]) * 100 + int((match[2] or "").ljust(2, "0")), currency


# ---- pain.002 ----


def _read_status_report(report: Tree.Element) -> Iterator[BankReturn]:
    group = report.find("OrgnlGrpInfAndSts")
    if group is None:
        raise ValueError(f"<{_STATUS_ROOT}> has no <OrgnlGrpInfAndSts>")
    message_id = _find_text(group, "OrgnlMsgId") or ""
    batches = list(report.iterfind("OrgnlPmtInfAndSts"))
    refused = [each for each in (group, *batches) if _find_text(each, "GrpSts", "PmtInfSts") in _REFUSED]
    for batch in batches:
        # An entry without a status has that of its batch.
        inherited = "RJCT" if batch in refused or group in refused else None
        for entry in batch.iterfind("TxInfAndSts"):
            if (_find_text(entry, "TxSts") or inherited) in _REFUSED:
                yield _read_refused(entry, message_id)
    if group in refused or (batches and refused == batches):
        # No entry of the file was carried out, including those that are not listed.
        reasons = [reason for each in refused if (reason := _find_reason(each, "StsRsnInf"))]
        yield BankReturn(id="", message_id=message_id, reason=(reasons or [UNSTATED])[0], amount=None, currency=None)


def _read_refused(entry: Tree.Element, message_id: str) -> BankReturn:
    payment_id = _find_text(entry, "OrgnlEndToEndId")
    if payment_id is None:
        raise ValueError("a refused <TxInfAndSts> has no <OrgnlEndToEndId>")
    amount = _choose_amount(entry, "OrgnlTxRef/Amt/InstdAmt")
    return BankReturn(
        id=payment_id,
        message_id=message_id,
        reason=_find_reason(entry, "StsRsnInf") or UNSTATED,
        amount=amount[0] if amount else None,
        currency=amount[1] if amount else None,
    )


# ---- camt.054 ----

_TRANSACTION_AMOUNTS = ("AmtDtls/InstdAmt/Amt", "AmtDtls/TxAmt/Amt", "Amt")
"""The instructed amount comes first, because the booked amount may contain the bank's own fee."""


def _read_notification(notification: Tree.Element) -> Iterator[BankReturn]:
    for entry in notification.iterfind("Ntfctn/Ntry"):
        transactions = list(entry.iterfind("NtryDtls/TxDtls"))
        for transaction in transactions:
            # A transaction without a reason for a return is no return.
            if transaction.find("RtrInf") is not None:
                yield _read_returned(transaction, entry if len(transactions) == 1 else None)


def _read_returned(transaction: Tree.Element, entry: Tree.Element | None) -> BankReturn:
    payment_id = _find_text(transaction, "Refs/EndToEndId")
    if payment_id is None:
        raise ValueError("a returned <TxDtls> has no <Refs>/<EndToEndId>")
    amount = _choose_amount(transaction, *_TRANSACTION_AMOUNTS) or (
        None if entry is None else _choose_amount(entry, "Amt")
    )
    return BankReturn(
        id=payment_id,
        message_id=_find_text(transaction, "Refs/MsgId") or "",
        reason=_find_reason(transaction, "RtrInf") or UNSTATED,
        amount=amount[0] if amount else None,
        currency=amount[1] if amount else None,
    )


def _find_reason(element: Tree.Element, place: str) -> str | None:
    return _find_text(element, f"{place}/Rsn/Cd", f"{place}/Rsn/Prtry")


# ---- a sample, for trying it out ----


def write_sample_return(returned: BankReturn, *, iban: str, at: datetime, booked_on: date) -> bytes:
    """Writes a camt.054 with one entry, as a bank would send it."""
    if returned.amount is None or returned.currency is None:
        raise ValueError("a bank books an amount")
    document = Tree.Element("Document", xmlns=_NOTICE_NAMESPACE)
    root = Tree.SubElement(document, _NOTICE_ROOT)
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    _grow(root, "GrpHdr/MsgId", f"RET-{returned.id[:20]}")
    _grow(root, "GrpHdr/CreDtTm", moment)
    _grow(root, "Ntfctn/Id", f"RET-{returned.id[:20]}")
    _grow(root, "Ntfctn/CreDtTm", moment)
    _grow(root, "Ntfctn/Acct/Id/IBAN", iban)
    entry = _grow(root, "Ntfctn/Ntry")
    _grow(entry, "Amt", render_hundredths(returned.amount)).set("Ccy", returned.currency)
    _grow(entry, "CdtDbtInd", "DBIT")
    _grow(entry, "RvslInd", "true")
    _grow(entry, "Sts/Cd", "BOOK")
    _grow(entry, "BookgDt/Dt", booked_on.isoformat())
    _grow(entry, "BkTxCd/Domn/Cd", "PMNT")
    _grow(entry, "BkTxCd/Domn/Fmly/Cd", "IDDT")
    _grow(entry, "BkTxCd/Domn/Fmly/SubFmlyCd", "UPDD")
    _grow(entry, "NtryDtls/TxDtls/Refs/MsgId", returned.message_id)
    _grow(entry, "NtryDtls/TxDtls/Refs/EndToEndId", returned.id)
    _grow(entry, "NtryDtls/TxDtls/Amt", render_hundredths(returned.amount)).set("Ccy", returned.currency)
    _grow(entry, "NtryDtls/TxDtls/CdtDbtInd", "DBIT")
    _grow(entry, "NtryDtls/TxDtls/RtrInf/Rsn/Cd", returned.reason)
    Tree.indent(document)
    written: bytes = Tree.tostring(document, encoding="UTF-8", xml_declaration=True)
    return written + b"\n"


def _grow(parent: Tree.Element, path: str, text: str | None = None) -> Tree.Element:
    """Follows a path and makes the elements that are missing."""
    for name in path.split("/"):
        found = parent.find(name)
        parent = Tree.SubElement(parent, name) if found is None else found
    parent.text = text
    return parent
