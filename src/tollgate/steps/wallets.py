"""A wallet's token opened for a payment, once. What is done with the card inside is not known here."""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import Wallet
from tollgate.payments import Channel, Claim, OpenedCard
from tollgate.steps.exposure import refuse_exposed
from tollgate.steps.house import House
from tollgate.store import claim_wallet_use
from tollgate.values import Secret
from tollgate.vault import WalletTokenError, fingerprint, open_wallet_token

_NO_KEY = "600.200.201"
_UNOPENED = "200.100.603"
_EXPIRED = "800.100.330"
_REPLAYED = "800.110.100"


async def open_wallet(
    house: House,
    channel: Channel,
    wallet: str,
    token: Secret,
    claim: Claim | None = None,
    *,
    echo: Mapping[str, str] = {},
) -> OpenedCard | str:
    """The card, or the code that says why there is none. `echo` is what is stored of the request in clear.

    The use is claimed after the token opened authentically, or else anybody could use up a token by its name.
    """
    keys = house.directory.find_wallet_keys(channel.id, wallet)
    if not keys:
        return _NO_KEY
    now = house.clock.now()
    try:
        opened = open_wallet_token(Wallet(wallet), token, keys, house.keyring, now)
    except WalletTokenError as failure:
        return _EXPIRED if failure.is_expired else _UNOPENED
    refuse_exposed(opened.card.account, echo, claim)
    use = fingerprint("wallet", [wallet, opened.unique], house.keyring)
    request = None
    if claim is not None:
        request = fingerprint("wallet request", [claim.channel_id, claim.key, claim.fingerprint.hex()], house.keyring)
    is_first = await claim_wallet_use(house.database, channel.merchant_id, use, now, request)
    return opened.card if is_first else _REPLAYED
