"""Requests about earlier payments. Whether a payment may follow another is decided elsewhere."""

from collections.abc import Mapping

from tollgate.catalog import codes
from tollgate.catalog.results import get_result, make_invalid
from tollgate.contract.fields import Fields, Pairs
from tollgate.contract.objections import find_fraction_objection
from tollgate.contract.orders import make_descriptor, read_simulator_overrides, read_test_mode
from tollgate.contract.registered import find_registration_id
from tollgate.contract.sellers import read_split
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp
from tollgate.payments.payment import Payment
from tollgate.values import Fault, InvalidParameters, Money, Refusal, read_hundredths

_REFERENCE = "referenceUuid"


def read_follow_up(fields: Fields, channel: Channel, *, short_id: str, is_live: bool) -> FollowUp:
    values = fields.values
    amount = read_hundredths(values["amount"]) if "amount" in values else None
    currency = values.get("currency")
    test_mode = read_test_mode(values.get("testMode"), is_live)
    objection = codes.AMOUNT_TOO_SMALL if amount == 0 else None
    if amount and currency is not None:
        objection = find_fraction_objection([Money(amount, currency)])
    return FollowUp(
        payment_type=values["paymentType"],
        amount=amount,
        currency=currency,
        practice=values.get("standingInstruction.industryPractice"),
        is_final=says_final(values),
        descriptor=make_descriptor(values.get("descriptor"), short_id, channel),
        short_id=short_id,
        # Clients of lenient channels send one mode with every request, whatever mode the payment was made in.
        test_mode=None if channel.is_lenient else test_mode,
        merchant_transaction_id=values.get("merchantTransactionId"),
        lifecycle_id=values.get("lifecycleId"),
        registration_id=find_registration_id(fields),
        # A lenient channel ignores the brand: the payment referred to has its own.
        brand=None if channel.is_lenient else values.get("paymentBrand"),
        split=read_split(fields),
        objection=objection,
        simulator_overrides=read_simulator_overrides(values)
        if "customParameters" in fields.groups and not is_live
        else {},
        echo=fields.echo,
    )


def spell_follow_up(payment_type: str, named: Payment, amount: str | None, *, is_final: bool) -> Pairs:
    """Spells a follow-up that somebody asks for on a page like a request of the interface."""
    pairs = [("paymentType", payment_type)]
    if amount is not None:
        pairs += [("amount", amount), ("currency", named.money.currency)]
    if named.test_mode is not None:
        pairs.append(("testMode", named.test_mode))
    return [*pairs, ("sequence", "FINAL")] if is_final else pairs


def find_reference(fields: Fields) -> str | None:
    """Finds the payment that a parameter, instead of the path, refers to."""
    return fields.get(_REFERENCE)


def check_reference(fields: Fields, named_id: str, channel: Channel) -> None:
    """Refuses a request whose path and referenceUuid name two payments; a lenient channel follows the path."""
    if find_reference(fields) not in (None, named_id) and not channel.is_lenient:
        raise Refusal(get_result(codes.TWO_REFERENCES))


def make_unknown_reference(fields: Fields) -> InvalidParameters:
    return make_invalid(Fault(_REFERENCE, "names no payment of this merchant", find_reference(fields)))


def check_lifecycle(sent: str | None, known: str | None) -> None:
    """Refuses a lifecycle id that contradicts the one of the chain; a chain without one takes any."""
    if sent is not None and known not in (None, sent):
        raise make_invalid(Fault("lifecycleId", "must be that of the payment it follows", sent))


# ---- what later transactions ask of the fields that were stored with a payment ----


def inherit_echo(echo: Mapping[str, str]) -> dict[str, str]:
    """Returns the lifecycle id, which a follow-up inherits unless it has its own."""
    return {name: echo[name] for name in ("lifecycleId",) if name in echo}


def keep_references(echo: Mapping[str, str]) -> dict[str, str]:
    """Returns the references that an automatic reversal shares with its payment, so that both are found by them."""
    return {name: echo[name] for name in ("lifecycleId", "merchantTransactionId", "merchantInvoiceId") if name in echo}


def count_captures(echo: Mapping[str, str]) -> int | None:
    """Returns the number of captures that the merchant announced, if any."""
    number = echo.get("numberOfCaptures")
    return None if number is None else int(number)


def says_final(echo: Mapping[str, str]) -> bool:
    return echo.get("sequence") == "FINAL"
