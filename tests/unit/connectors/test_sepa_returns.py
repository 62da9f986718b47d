"""Files of returns are read in every version; any other file is refused with the place of the fault."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.connectors.sepa_returns import BankReturn, read_returns, write_sample_return

ID, OTHER, FILE = "8a" + "1" * 30, "8a" + "2" * 30, "8a" + "f" * 30
REFUSED = BankReturn(id=ID, message_id=FILE, reason="AC04", amount=9200, currency="EUR")


def status_report(version: str, entries: str, group: str = "") -> bytes:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.{version}"><CstmrPmtStsRpt>
<GrpHdr><MsgId>B1</MsgId><CreDtTm>2026-11-18T08:00:00</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>{FILE}</OrgnlMsgId><OrgnlMsgNmId>pain.008</OrgnlMsgNmId>{group}</OrgnlGrpInfAndSts>
{entries}</CstmrPmtStsRpt></Document>""".encode()


def refused_entry(payment_id: str, status: str = "RJCT") -> str:
    return f"""<OrgnlPmtInfAndSts><OrgnlPmtInfId>P</OrgnlPmtInfId><TxInfAndSts>
<OrgnlEndToEndId>{payment_id}</OrgnlEndToEndId><TxSts>{status}</TxSts>
<StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf>
<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">92.00</InstdAmt></Amt></OrgnlTxRef></TxInfAndSts></OrgnlPmtInfAndSts>"""


def notification(version: str, details: str, amount: str = '<Amt Ccy="EUR">92.00</Amt>') -> bytes:
    return (
        f"""<?xml version="1.0" encoding="UTF-8"?>
<n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.054.001.{version}"><n:BkToCstmrDbtCdtNtfctn>
<n:Ntfctn><n:Id>N</n:Id><n:Ntry>{amount}<n:CdtDbtInd>DBIT</n:CdtDbtInd><n:NtryDtls>{details}</n:NtryDtls></n:Ntry>
</n:Ntfctn></n:BkToCstmrDbtCdtNtfctn></n:Document>""".replace("<Amt", "<n:Amt")
        .replace("</Amt", "</n:Amt")
        .encode()
    )


def returned(payment_id: str, amount: str, reason: str = "<n:Cd>MD06</n:Cd>") -> str:
    return f"""<n:TxDtls><n:Refs><n:MsgId>{FILE}</n:MsgId><n:EndToEndId>{payment_id}</n:EndToEndId></n:Refs>{amount}
<n:RtrInf><n:Rsn>{reason}</n:Rsn></n:RtrInf></n:TxDtls>"""


@pytest.mark.parametrize("version", ["03", "10"])
def test_refused_entries_of_a_status_report_are_read(version: str) -> None:
    text = status_report(version, refused_entry(ID) + refused_entry(OTHER, "ACSC"))

    assert read_returns(text) == [REFUSED]


def test_a_file_refused_as_a_whole_is_reported_by_its_id() -> None:
    group = "<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>FF01</Cd></Rsn></StsRsnInf>"

    assert read_returns(status_report("03", "", group)) == [
        BankReturn(id="", message_id=FILE, reason="FF01", amount=None, currency=None)
    ]


@pytest.mark.parametrize(
    ("group", "batch"), [("<GrpSts>RJCT</GrpSts>", ""), ("", "<PmtInfSts>RJCT</PmtInfSts>")], ids=["file", "batch"]
)
def test_entries_without_a_status_are_refused_with_their_batch(group: str, batch: str) -> None:
    silent = refused_entry(ID).replace("<TxSts>RJCT</TxSts>", "").replace("<TxInfAndSts>", f"{batch}<TxInfAndSts>", 1)

    # And so is whatever the bank did not list.
    rest = BankReturn(id="", message_id=FILE, reason="NARR", amount=None, currency=None)
    assert read_returns(status_report("03", silent, group)) == [REFUSED, rest]
    assert read_returns(status_report("03", silent.replace("RJCT", "ACSC"), group.replace("RJCT", "ACSC"))) == []


@pytest.mark.parametrize("version", ["02", "08"])
def test_returned_entries_of_a_notification_are_read(version: str) -> None:
    instructed = '<n:AmtDtls><n:InstdAmt><n:Amt Ccy="EUR">92.00</n:Amt></n:InstdAmt></n:AmtDtls>'
    booked = '<n:Amt Ccy="EUR">95.50</n:Amt>'
    paid = f"<n:TxDtls><n:Refs><n:EndToEndId>{OTHER}</n:EndToEndId></n:Refs></n:TxDtls>"

    assert read_returns(notification(version, returned(ID, booked + instructed) + paid)) == [
        BankReturn(id=ID, message_id=FILE, reason="MD06", amount=9200, currency="EUR")
    ]


def test_the_amount_of_a_single_return_is_that_of_its_entry() -> None:
    (only,) = read_returns(notification("08", returned(ID, "")))
    several = read_returns(notification("08", returned(ID, "") + returned(OTHER, "")))

    assert (only.amount, only.currency) == (9200, "EUR")
    assert [each.amount for each in several] == [None, None]


def test_a_reason_without_a_code_of_the_standard_is_kept_or_counts_as_unstated() -> None:
    own = read_returns(notification("08", returned(ID, "", "<n:Prtry>X1</n:Prtry>")))
    none = read_returns(notification("08", returned(ID, "", "")))

    assert [own[0].reason, none[0].reason] == ["X1", "NARR"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"", "line 1: not XML"),
        (b"<Document><a></Document>", "line 1: not XML"),
        (b"<html><body/></html>", "<html> is no ISO 20022 document"),
        (b"<Document/>", "<Document> is no ISO 20022 document"),
        (b"<Document><CstmrDrctDbtInitn/></Document>", "<CstmrDrctDbtInitn> is neither"),
        (b"<Document><CstmrPmtStsRpt/></Document>", "no <OrgnlGrpInfAndSts>"),
        (b"<!DOCTYPE Document><Document/>", "line 1: a document type"),
        (b'\n<!DOCTYPE d [<!ENTITY x "y">]><Document>&x;</Document>', "line 2: a document type"),
        (b"<a>" * 200 + b"</a>" * 200, "nested too deeply"),
        (status_report("03", refused_entry("")), "no <OrgnlEndToEndId>"),
        (status_report("03", refused_entry(ID).replace("92.00", "92.001")), "<OrgnlTxRef/Amt/InstdAmt> '92.001'"),
        (status_report("03", refused_entry(ID).replace("92.00", "NaN")), "is no amount"),
        (status_report("03", refused_entry(ID).replace("92.00", "1E999999")), "is no amount"),
        (notification("08", returned("", "")), "no <Refs>/<EndToEndId>"),
        (b'<?xml version="1.0" encoding="foo"?><Document/>', "line 1: not in an encoding"),
        ("<Document/>".encode("utf-16"), "is no ISO 20022 document"),
    ],
)
def test_what_is_no_return_is_refused_by_its_place(text: bytes, place: str) -> None:
    with pytest.raises(ValueError, match=place.replace("(", r"\(")):
        read_returns(text)


def test_a_file_larger_than_the_limit_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        bank_file_bytes_max = 10

    monkeypatch.setattr("tollgate.connectors.sepa_returns.LIMITS", Small)

    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_returns(b"<Document><a/></Document>")


@given(st.binary(max_size=400) | st.text(max_size=400).map(lambda text: f"<Document>{text}</Document>".encode()))
def test_whatever_is_no_return_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_returns(text)


@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    whole = status_report("03", refused_entry(ID))
    start = data.draw(st.integers(0, len(whole)))
    damaged = whole[:start] + data.draw(st.binary(max_size=5)) + whole[start + data.draw(st.integers(0, 50)) :]

    try:
        read = read_returns(damaged)
    except ValueError:
        return
    assert all(isinstance(each, BankReturn) for each in read)


def test_a_sample_is_read_as_what_it_says() -> None:
    at = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)

    text = write_sample_return(REFUSED, iban="DE02120300000000202051", at=at, booked_on=date(2026, 11, 19))

    assert read_returns(text) == [REFUSED]
