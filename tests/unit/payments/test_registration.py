"""A wiped registration keeps some of its values, and each is stored for a limited time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tollgate.payments import registration
from tollgate.payments.accounts import CardSummary
from tollgate.values import ChannelId, MerchantId, RegistrationId, to_instant

NOW = to_instant(datetime(2027, 1, 31, 12, tzinfo=UTC))
CARD_SUMMARY = CardSummary(bin="420000", last_digits="0000", expiry_month="02", expiry_year="2028", holder="Jane Jones")
STORED = registration.Registration(
    id=RegistrationId("8a" * 16),
    merchant_id=MerchantId("merchant"),
    channel_id=ChannelId("channel"),
    state=registration.RegistrationState.ACTIVE,
    brand="VISA",
    method="CC",
    ndc="trace",
    created_at=NOW,
    used_at=NOW,
    keep_until=NOW + 1,
    card=CARD_SUMMARY,
    echo={"customer.givenName": "Jane", "billing.street1": "1 Main Street"},
    initial=registration.InitialPayment(payment_type="DB", reference="scheme"),
    network_token=registration.NetworkToken(
        reference="at the network",
        state=registration.TokenState.ACTIVE,
        last_digits="4444",
        expiry_month="01",
        expiry_year="2030",
        updated_at=NOW,
    ),
    fingerprint=b"print",
    revision=3,
)


@pytest.mark.parametrize("ended", sorted(registration.WIPED))
def test_what_was_wiped_says_which_instrument_it_was_and_whose_it_was_not(
    ended: registration.RegistrationState,
) -> None:
    left = registration.wipe(STORED, ended)

    assert left.state is ended
    assert left.card == CardSummary(bin="420000", last_digits="0000", expiry_month="02", expiry_year="2028")
    assert left.echo == {}
    assert left.fingerprint is None
    assert left.network_token is not None
    assert left.network_token.state is registration.TokenState.DELETED
    assert (left.id, left.brand, left.created_at, left.initial) == (STORED.id, "VISA", NOW, STORED.initial)
    assert left.revision == STORED.revision
    assert "Jane" not in repr(left)


def test_what_has_no_card_is_wiped_as_well() -> None:
    bare = registration.Registration(
        **{name: getattr(STORED, name) for name in STORED.__struct_fields__ if name != "card"}
    )

    assert registration.wipe(bare, registration.RegistrationState.ERASED).card is None


@pytest.mark.parametrize("state", sorted(set(registration.RegistrationState) - registration.WIPED))
def test_nothing_is_wiped_and_still_open(state: registration.RegistrationState) -> None:
    with pytest.raises(ValueError, match=state.name):
        registration.wipe(STORED, state)


@pytest.mark.parametrize(
    ("card", "end"),
    [
        (CARD_SUMMARY, datetime(2029, 5, 1, tzinfo=UTC)),
        (None, datetime(2028, 3, 31, 12, tzinfo=UTC)),
    ],
)
def test_a_card_is_kept_beyond_its_expiry_and_all_else_beyond_its_last_use(
    card: CardSummary | None, end: datetime
) -> None:
    assert registration.Retention().get_end(card, NOW) == to_instant(end)


def test_an_extension_never_shortens() -> None:
    far = registration.Retention(extension_months=1)
    kept = registration.Registration(
        **{name: getattr(STORED, name) for name in STORED.__struct_fields__ if name != "keep_until"},
        keep_until=NOW * 2,
    )

    assert far.extend(kept, NOW) == NOW * 2
    assert far.extend(STORED, NOW) == to_instant(datetime(2027, 2, 28, 12, tzinfo=UTC))
