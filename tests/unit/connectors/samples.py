"""One order and one follow-up that the tests of the card protocol start from."""

from __future__ import annotations

from msgspec.structs import replace

from tollgate.connectors.exchange import Original
from tollgate.payments.accounts import CardAccount, make_card_summary
from tollgate.payments.order import Order
from tollgate.payments.payment import Payment, State
from tollgate.values import ChannelId, MerchantId, Money, PaymentId, Secret

CARD = CardAccount(
    number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034", holder="Jane Jones", cvv=Secret("731")
)
ORDER = Order(
    payment_type="DB",
    money=Money(9210, "EUR"),
    brand="VISA",
    network="VISA",
    method="CC",
    account=CARD,
    card_summary=make_card_summary("4200000000000000", CARD),
    statement="Jones",
    descriptor="Order 7",
    short_id="1234.5678.9012",
    merchant_transaction_id="order-0001",
    simulator_overrides={"forceResultCode": "800.100.151"},
    echo={"merchantMemo": "ours alone"},
)

CAPTURE = Payment(
    id=PaymentId("8a02"),
    merchant_id=MerchantId("8a" + "1" * 30),
    channel_id=ChannelId("8a" + "2" * 30),
    payment_type="CP",
    state=State.STARTED,
    money=Money(4000, "EUR"),
    brand="VISA",
    method="CC",
    descriptor="Order 7",
    short_id="1234.5678.9013",
    ndc="8a" + "3" * 30,
    created_at=0,
    deadline_at=1,
    merchant_transaction_id="order-0001",
    referenced_id=PaymentId("8a01"),
    echo={"merchantMemo": "ours alone"},
)

ATTEMPT = replace(
    CAPTURE, id=PaymentId("8a01"), payment_type="DB", money=ORDER.money, referenced_id=None, echo=ORDER.echo
)
ORIGINAL = Original(payment=ATTEMPT, first=ATTEMPT)
