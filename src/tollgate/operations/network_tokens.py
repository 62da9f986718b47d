"""Network tokens in payments: a vault is chosen, and a card's number replaced by its token.

Tokens are requested and updated in `flows/tokenize.py`.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.connectors import tokens
from tollgate.contract.registered import read_registration_link
from tollgate.operations.app import App
from tollgate.operations.routes import find_address, find_stand_in
from tollgate.payments.accounts import TokenAccount
from tollgate.payments.merchants import Channel, TokenTerms
from tollgate.payments.order import Order, TestMode
from tollgate.payments.payment import NATURES, Nature, Payment
from tollgate.payments.registration import NetworkToken, Registration, RegistrationState, find_token_obstacle
from tollgate.store import jobs, registrations
from tollgate.values import SECOND
from tollgate.vault import sealing
from tollgate.wire import Wire

TOKEN_NOUN = "network-token"
"""Names the owner of the token that is sealed in a registration's row."""

_NO_TERMS = TokenTerms()
_SHARE_OF_TIME = 4
"""A cryptogram may take up to this fraction of the acquirer's time."""


class TokenVault(msgspec.Struct, frozen=True):
    """The wire and the terms of a channel's token vault."""

    wire: Wire
    terms: TokenTerms


class Means(msgspec.Struct, frozen=True):
    """An order as it is sent, and what the answer says about its network token."""

    order: Order
    details: Mapping[str, str] = {}
    spent_s: float = 0.0
    """The part of the acquirer's time that is used up; an attempt must end before its deadline."""


def choose_token_vault(app: App, channel: Channel, test_mode: TestMode | None) -> TokenVault | None:
    """Returns None where the channel has no vault, so that cards are charged by their own numbers."""
    terms = channel.token_terms or _NO_TERMS
    if not app.may_handle(test_mode):
        return None
    address = find_address(test_mode, terms.test_url, terms.live_url)
    if address:
        return TokenVault(app.find_wire(address), terms)
    stand_in = find_stand_in(app, channel, test_mode)
    # Any account of the channel may get the payment, and none that is real shall get a simulated token.
    has_real = any(find_stand_in(app, view, test_mode) is None for view in app.merchants.list_accounts(channel))
    return None if stand_in is None or has_real else TokenVault(stand_in, terms)


def wants_token(app: App, subject: Registration | Payment) -> bool:
    """Tells whether a registered card shall have a network token, and somebody can be asked for it."""
    channel = app.merchants.find_channel(subject.channel_id)
    if channel is None or not channel.uses_network_tokens or subject.brand not in tokens.NETWORKS:
        return False
    return choose_token_vault(app, channel, subject.test_mode) is not None


def make_token_owner(registration: Registration) -> str:
    return sealing.make_owner(TOKEN_NOUN, registration.merchant_id, registration.id)


async def use_network_token(app: App, order: Order, started: Payment) -> Means:
    """Replaces a registered card by its network token where there is a usable one; the payment never fails for it."""
    channel = app.merchants.find_channel(started.channel_id)
    if channel is None or not channel.uses_network_tokens or not tokens.can_have_token(order.brand, order.account):
        return Means(order)
    link = read_registration_link(started)
    if link is None or link.is_new:
        return Means(order)
    found = await registrations.find_sealed_registration(app.database, started.merchant_id, link.id)
    if found is None or found[0].test_mode != started.test_mode or found[0].state is not RegistrationState.ACTIVE:
        # Another test mode's acquirer does not know the token.
        return Means(order)
    registration, _, sealed_token = found
    token = registration.network_token
    if token is None:
        if not wants_token(app, registration):
            return Means(order)
        # The registration is older than the channel's use of tokens, or its token was given up: it is requested now.
        await _look_after(app, registration)
    obstacle = find_token_obstacle(token)
    if token is None or obstacle is not None or sealed_token is None:
        return Means(order, tokens.describe_use(token, obstacle or codes.NETWORK_TOKEN_UNKNOWN))
    account = sealing.open_account(sealed_token, owner=make_token_owner(registration), keyring=app.keyring)
    if not isinstance(account, TokenAccount):
        raise TypeError(f"the network token of registration {registration.id} is none")
    return await _prove(app, order, started, registration, token, account)


async def _prove(
    app: App,
    order: Order,
    started: Payment,
    registration: Registration,
    token: NetworkToken,
    account: TokenAccount,
) -> Means:
    """Adds a cryptogram where the shopper is present; later payments refer to that one."""
    standing = order.details.standing_instruction
    is_by_merchant = standing is not None and standing.is_by_merchant
    if is_by_merchant or NATURES[order.payment_type] is not Nature.TAKES:
        return Means(msgspec.structs.replace(order, account=account), tokens.describe_use(token, None))
    began_at = app.clock.wall()
    proof = await _ask_proof(app, order, started, registration)
    spent_s = (app.clock.wall() - began_at) / SECOND
    if proof.text is not None:
        proven = msgspec.structs.replace(account, cryptogram=proof.text)
        return Means(msgspec.structs.replace(order, account=proven), tokens.describe_use(token, None), spent_s)
    reason = proof.reason or tokens.SILENT
    if not reason.is_passing:
        # The vault knows better than this host how the token is.
        await _look_after(app, registration, occasion="refused")
    return Means(order, tokens.describe_use(token, reason.code), spent_s)


async def _ask_proof(app: App, order: Order, started: Payment, registration: Registration) -> tokens.Cryptogram:
    channel = app.merchants.find_channel(registration.channel_id)
    vault = None if channel is None else choose_token_vault(app, channel, registration.test_mode)
    if vault is None:
        return tokens.Cryptogram(None)
    requestor = vault.terms.requestor_id
    question = tokens.request_cryptogram(registration.id, started.id, order.money, requestor=requestor)
    timeout_s = min(LIMITS.cryptogram_timeout_s, app.acquirer_timeout_s / _SHARE_OF_TIME)
    proof = await app.converse(question, vault.wire, about=started, label="cryptogram request", timeout_s=timeout_s)
    return proof or tokens.Cryptogram(None)


async def _look_after(app: App, registration: Registration, occasion: str = "") -> None:
    job = registrations.make_token_job(registration.merchant_id, registration.id, app.clock.now(), occasion)
    await app.database.write(jobs.ensure_job_writes(job), label="token check queued")
