"""A wallet's token opened for a payment, once. What is done with the card inside is not known here."""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import Wallet
from tollgate.operations.app import App
from tollgate.operations.exposure import refuse_exposed
from tollgate.payments import Channel, IdempotencyKey, OpenedCard
from tollgate.store import record_wallet_use
from tollgate.values import Secret
from tollgate.vault import WalletTokenError, fingerprint, open_wallet_token

_NO_KEY = "600.200.201"
_UNOPENED = "200.100.603"
_EXPIRED = "800.100.330"
_REPLAYED = "800.110.100"


async def open_wallet(
    app: App,
    channel: Channel,
    wallet: str,
    token: Secret,
    idempotency_key: IdempotencyKey | None = None,
    *,
    echo: Mapping[str, str] = {},
) -> OpenedCard | str:
    """The card, or the code that says why there is none. `echo` is what is stored of the request in clear.

    The use is claimed after the token opened authentically, or else anybody could use up a token by its name.
    """
    keys = app.merchants.find_wallet_keys(channel.id, wallet)
    if not keys:
        return _NO_KEY
    now = app.clock.now()
    try:
        opened = open_wallet_token(Wallet(wallet), token, keys, app.keyring, now)
    except WalletTokenError as failure:
        return _EXPIRED if failure.is_expired else _UNOPENED
    refuse_exposed(opened.card.account, echo, idempotency_key)
    use = fingerprint("wallet", [wallet, opened.unique], app.keyring)
    request = None
    if idempotency_key is not None:
        request = fingerprint(
            "wallet request",
            [idempotency_key.channel_id, idempotency_key.key, idempotency_key.fingerprint.hex()],
            app.keyring,
        )
    is_first = await record_wallet_use(app.database, channel.merchant_id, use, now, request)
    return opened.card if is_first else _REPLAYED
