"""Refuses requests that would store the number of an account in clear, where the account was stored or sealed before.

Numbers that come along with the request are compared when its fields are read.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import keep_digits
from tollgate.contract import list_exposing, refuse_numbers
from tollgate.operations.app import App
from tollgate.payments import IdempotencyKey, Instrument, Payment
from tollgate.store import get_sealed_account
from tollgate.vault import find_exposed, name_owner, open_account


def refuse_exposed(account: Instrument, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None) -> None:
    """Compares an opened account with `echo`, which is stored of the request, and with the key of `claim`."""
    texts = list_exposing(echo, idempotency_key.key if idempotency_key else "")
    exposed = find_exposed(account, texts) if texts else []
    if exposed:
        raise refuse_numbers(exposed)


def refuse_exposed_sealed(
    sealed: bytes | None, owner: str, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None, app: App
) -> None:
    """Compares a sealed account, which is opened only if some text has enough digits."""
    if sealed is not None and list_exposing(echo, idempotency_key.key if idempotency_key else ""):
        refuse_exposed(open_account(sealed, owner=owner, keyring=app.keyring), echo, idempotency_key)


async def refuse_exposed_payment(
    app: App, first: Payment, echo: Mapping[str, str], idempotency_key: IdempotencyKey | None
) -> None:
    """Compares the account of `first`, the payment that a chain began with.

    The account is read and opened only if some text contains the known first digits of the number.
    """
    texts = list_exposing(echo, idempotency_key.key if idempotency_key else "")
    card = first.card
    if card is not None:
        texts = {name: text for name, text in texts.items() if card.bin in keep_digits(text)}
    if texts:
        sealed = await get_sealed_account(app.database, first.merchant_id, first.id)
        owner = name_owner("payment", first.merchant_id, first.id)
        refuse_exposed_sealed(sealed, owner, echo, idempotency_key, app)
