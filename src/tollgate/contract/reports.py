"""Requests and answers about lists of payments and settlement reports. Sums are those of the ledger."""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Any

import msgspec

from tollgate import values
from tollgate.catalog import codes
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.payment_types import PAYMENT_TYPES, Reconciliation
from tollgate.catalog.results import get_result, make_invalid
from tollgate.catalog.rule import Situation
from tollgate.catalog.shape import is_true
from tollgate.contract.answers import Answer, Envelope, Json, answer_payment, encode_answer, render_payment
from tollgate.contract.fields import Fields, Pairs, is_identity_name, read_fields
from tollgate.payments import reporting
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac

_NAME = "cursor"
_PURPOSE = "cursor"
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[int, str, bytes])


def render_cursor(
    place: reporting.Place, channel: Channel, filters: reporting.Search | reporting.Period, keyring: Keyring
) -> str:
    sealed = (place.at, place.id, _seal(place, channel, filters, keyring))
    return urlsafe_b64encode(_encoder.encode(sealed)).decode().rstrip("=")


def read_cursor(
    text: str, channel: Channel, filters: reporting.Search | reporting.Period, keyring: Keyring
) -> reporting.Place:
    try:
        at, place_id, seal = _decoder.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, msgspec.MsgspecError):
        raise _refuse(text) from None
    place = reporting.Place(at, place_id)
    is_ours = hmac.compare_digest(seal, _seal(place, channel, filters, keyring))
    # It is rendered again, because several texts decode to the same bytes.
    if not is_ours or render_cursor(place, channel, filters, keyring) != text:
        raise _refuse(text)
    return place


def _seal(
    place: reporting.Place, channel: Channel, filters: reporting.Search | reporting.Period, keyring: Keyring
) -> bytes:
    # The name of the type stands for the list: a place among payments is none in the ledger.
    wanted = msgspec.json.encode(filters).decode()
    facts = (type(filters).__name__, channel.merchant_id, channel.id, wanted, place.at, place.id)
    return make_mac(_PURPOSE, facts, keyring)


def _refuse(text: str) -> values.InvalidParameters:
    message = "must be the cursor of an earlier page of this list, with the same filters"
    return make_invalid(values.Fault(_NAME, message, text))


BEGIN = "date.from"
"""The parameter that says where the time of a report begins."""
_DAY_LENGTH = len("yyyy-MM-dd")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A request for payments: the filters, the page, and whether it includes the rest of their chains."""

    search: reporting.Search
    window: reporting.Window
    with_linked: bool


def read_question(pairs: Pairs, situation: Situation, rows_max: int) -> Question:
    """`rows_max` is the length of a page unless the request sets it."""
    fields = read_report_fields(pairs, situation)
    return Question(
        search=reporting.Search(
            reference=fields.get("merchantTransactionId"),
            lifecycle_id=fields.get("lifecycleId"),
            short_id=fields.get("shortId"),
            payment_types=_read_list(fields.get("paymentTypes")),
            methods=_read_list(fields.get("paymentMethods")),
            begins_at=read_begin(fields.get(BEGIN)),
            ends_at=read_end(fields.get("date.to")),
        ),
        window=read_window(fields, int(fields.get("limit") or rows_max)),
        with_linked=is_true(fields.get("includeLinkedTransactions")),
    )


def read_report_fields(pairs: Pairs, situation: Situation) -> Fields:
    """Reads the fields without the identity, which was read before, and more leniently."""
    return read_fields([pair for pair in pairs if not is_identity_name(pair[0])], situation)


def read_window(fields: Fields, rows_max: int) -> reporting.Window:
    return reporting.Window(rows_max=rows_max, page_no=int(fields.get("pageNo") or 1), cursor=fields.get("cursor"))


def read_begin(text: str | None) -> values.Instant:
    return 0 if text is None else _read_moment(text)


def read_end(text: str | None) -> values.Instant:
    """Returns the first instant after the named day or second, because both are meant as a whole."""
    if text is None:
        return reporting.FOREVER
    return _read_moment(text) + (values.DAY if len(text) == _DAY_LENGTH else values.SECOND)


def _read_moment(text: str) -> values.Instant:
    return values.to_instant(datetime.fromisoformat(text).replace(tzinfo=UTC))


def _read_list(text: str | None) -> tuple[str, ...]:
    """Sorts and removes repetitions, so that the same filter is the same value however it was written."""
    return tuple(sorted(set(text.split(",")))) if text else ()


ONE_NAME = ("payments",)
BOTH_NAMES = ("payments", "records")
"""Clients of the newer report read its list by either name."""

Chains = Mapping[str, Sequence[Payment]]
"""The key is the id of the first payment."""


def answer_chain(payment: Payment, chain: Iterable[Payment], envelope: Envelope) -> Answer:
    """Answers with a payment and its whole chain."""
    return answer_payment(payment, envelope, payments=_render_payments(chain))


def answer_payment_page(
    page: reporting.Page[Payment],
    chains: Chains | None,
    names: Sequence[str],
    envelope: Envelope,
    ndc: str,
    now: values.Instant,
) -> Answer:
    """`chains` is None where they were not requested; the payments then have no `linkedTransactions`."""
    rows = _render_payments(page.rows)
    if chains is not None:
        for row, payment in zip(rows, page.rows, strict=True):
            others = [other for other in chains.get(payment.first_id, ()) if other.id != payment.id]
            row["linkedTransactions"] = _render_payments(others)
    return answer_page(dict.fromkeys(names, rows), page, envelope, ndc, now)


def answer_page(lists: Json, page: reporting.Page[Any], envelope: Envelope, ndc: str, now: values.Instant) -> Answer:
    paging = {"pages": page.pages, "pageNo": page.page_no, "cursor": page.cursor}
    known = {word: value for word, value in paging.items() if value is not None}
    return encode_answer(200, envelope.wrap(get_result(codes.REQUEST_SUCCEEDED), ndc, now, **lists, **known))


def _render_payments(payments: Iterable[Payment]) -> list[Json]:
    return [
        {
            **render_payment(payment),
            "paymentMethod": payment.method,
            "shortId": payment.short_id,
            "timestamp": values.render_timestamp(payment.created_at),
            "ndc": payment.ndc,
        }
        for payment in payments
    ]


_TYPES = {code: row.reconciliation for code, row in PAYMENT_TYPES.items() if row.reconciliation}
_ID = re.compile("([0-9]{8})-([A-Z]{3})")


def read_days(pairs: Pairs, situation: Situation) -> reporting.Period:
    fields = read_report_fields(pairs, situation)
    return reporting.Period(
        begins_at=read_begin(fields.get(BEGIN)),
        ends_at=read_end(fields.get("date.to")),
        currency=fields.get("currency"),
        test_mode=_read_test_mode(fields),
    )


def read_seller_days(
    pairs: Pairs, situation: Situation, rows_max: int
) -> tuple[reporting.SellerPeriod, reporting.Window]:
    fields = read_report_fields(pairs, situation)
    period = reporting.SellerPeriod(
        begins_at=read_begin(fields.get(BEGIN)),
        ends_at=read_end(fields.get("date.to")),
        currency=fields.get("currency"),
        test_mode=_read_test_mode(fields),
    )
    return period, read_window(fields, int(fields.get("limit") or rows_max))


def read_aggregation(
    aggregation_id: str, pairs: Pairs, situation: Situation, rows_max: int
) -> tuple[reporting.Period, reporting.Window] | None:
    """Returns None where the id names no day and currency."""
    fields = read_report_fields(pairs, situation)
    found = _read_id(aggregation_id)
    if found is None:
        return None
    begins_at, currency = found
    wanted = fields.get("reconciliationType")
    period = reporting.Period(
        begins_at=begins_at,
        ends_at=begins_at + values.DAY,
        currency=currency,
        test_mode=_read_test_mode(fields),
        payment_types=tuple(code for code, name in _TYPES.items() if name == wanted) if wanted else None,
        is_newest_first=(fields.get("sortOrder") or "").upper() == "DESC",
    )
    return period, read_window(fields, rows_max)


def answer_aggregations(
    tallies: Iterable[reporting.Tally], envelope: Envelope, ndc: str, now: values.Instant
) -> Answer:
    """`tallies` are sorted by day and currency."""
    rows = [
        _render_aggregation(begins_at, currency, list(parts))
        for (begins_at, currency), parts in groupby(tallies, lambda tally: (tally.begins_at, tally.currency))
    ]
    return encode_answer(200, envelope.wrap(get_result(codes.REQUEST_SUCCEEDED), ndc, now, aggregations=rows))


def answer_seller_sums(
    page: reporting.Page[reporting.SellerSums], envelope: Envelope, ndc: str, now: values.Instant
) -> Answer:
    return answer_page({"sellers": [_render_seller_sums(sums) for sums in page.rows]}, page, envelope, ndc, now)


def _render_seller_sums(sums: reporting.SellerSums) -> Json:
    amounts = {
        "grossAmount": sums.gross,
        "refundAmount": sums.refunded,
        "chargebackAmount": sums.charged_back,
        "chargebackReversalAmount": sums.charge_back_reversed,
        "netAmount": sums.net,
    }
    return {
        "id": sums.seller_id,
        "currency": sums.currency,
        "count": sums.count,
        **{name: values.render_hundredths(hundredths) for name, hundredths in amounts.items()},
    }


def answer_report_entries(
    page: reporting.Page[reporting.ReportEntry], envelope: Envelope, ndc: str, now: values.Instant
) -> Answer:
    rows = [_render_report_entry(report_entry) for report_entry in page.rows]
    return answer_page({"reconciliations": rows}, page, envelope, ndc, now)


def _render_aggregation(begins_at: values.Instant, currency: str, tallies: list[reporting.Tally]) -> Json:
    """Renders sums that can be computed from the records of each type."""
    day = values.to_datetime(begins_at)
    gains: dict[Reconciliation, list[int]] = {name: [] for name in Reconciliation}
    for tally in tallies:
        gains[_TYPES[tally.payment_type]].append(tally.gain)
    settled = gains[Reconciliation.SETTLED]
    sums = {
        "grossAmount": sum(gain for gain in settled if gain > 0),
        "refundAmount": -sum(gain for gain in settled if gain < 0),
        "chargebackAmount": -sum(gains[Reconciliation.CHARGEBACK]),
        "chargebackReversalAmount": sum(gains[Reconciliation.CHARGEBACK_REVERSAL]),
        "netAmount": sum(tally.gain for tally in tallies),
    }
    return {
        "id": f"{day:%Y%m%d}-{currency}",
        "date": f"{day:%Y-%m-%d}",
        "currency": currency,
        "count": sum(tally.count for tally in tallies),
        **{name: values.render_hundredths(hundredths) for name, hundredths in sums.items()},
    }


def _render_report_entry(report_entry: reporting.ReportEntry) -> Json:
    entry, payment = report_entry.entry, report_entry.payment
    row: Json = {"id": payment.id}
    if payment.referenced_id:
        row["referencedId"] = payment.referenced_id
    if payment.merchant_transaction_id:
        row["merchantTransactionId"] = payment.merchant_transaction_id
    row["paymentType"] = payment.payment_type
    if payment.brand:
        row["paymentBrand"] = payment.brand
    return row | {
        "amount": values.render_hundredths(report_entry.gain),
        "currency": entry.currency,
        "settlementTxDate": values.render_timestamp(entry.posted_at),
        "reconciliationType": _TYPES[payment.payment_type],
        # The ledger has an entry only because of its transaction, so there is always exactly one.
        "matchedTransactions": [{"status": "MATCHED", "id": payment.id}],
    }


def _read_test_mode(fields: Fields) -> TestMode | None:
    text = fields.get("testMode")
    return TestMode(text) if text else None


def _read_id(aggregation_id: str) -> tuple[values.Instant, str] | None:
    match = _ID.fullmatch(aggregation_id)
    if match is None or match[2] not in CURRENCIES:
        return None
    try:
        day = date.fromisoformat(match[1])
    except ValueError:
        return None
    return values.to_instant(datetime(day.year, day.month, day.day, tzinfo=UTC)), match[2]
