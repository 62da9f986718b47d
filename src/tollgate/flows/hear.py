"""What partners tell without being asked: the result of a challenge, and that an issuer's hidden page is done.

A result counts once, only for a challenge that is open, and only from who knows the address that it was promised to.
"""

from __future__ import annotations

from hmac import compare_digest

import msgspec

from tollgate.connectors import threeds
from tollgate.contract import ShopperToken, read_shopper_token
from tollgate.flows.resume import finish
from tollgate.operations import App, check_authentication, get_payment, sign_authentication
from tollgate.payments import AuthenticationRow, Stage, State
from tollgate.store import find_authentication, find_payment, move_authentication
from tollgate.vault import hash_once_key


async def hear_result(app: App, token_text: str, body: bytes) -> bytes:
    """Answers in the words of the protocol, whatever was sent."""
    shopper_token = read_shopper_token(token_text)
    row = None if shopper_token is None else await _find(app, shopper_token)
    if (
        shopper_token is None
        or row is None
        or not compare_digest(row.body.results_hash, hash_once_key(shopper_token.key))
    ):
        return threeds.answer_result(body, None, accepted=False)
    result = threeds.read_result(body, row.body) if row.stage is Stage.CHALLENGED else None
    if result is None or row.expires_at <= app.clock.now():
        return threeds.answer_result(body, row.body, accepted=False)
    answered = msgspec.structs.replace(row, stage=Stage.ANSWERED, body=msgspec.structs.replace(row.body, result=result))
    accepted = await move_authentication(app.database, sign_authentication(app, answered), Stage.CHALLENGED)
    if accepted and row.body.acs_url is None:
        await _finish_without_browser(app, answered)
    return threeds.answer_result(body, row.body, accepted=accepted)


async def hear_method(app: App, token_text: str, server_id: str | None) -> None:
    """Only a hint to the issuer, so whoever lies about it hurts nobody."""
    shopper_token = read_shopper_token(token_text)
    row = None if shopper_token is None else await _find(app, shopper_token)
    if row is None or row.stage is not Stage.OPEN or row.body.server_id != server_id:
        return
    done = msgspec.structs.replace(row, body=msgspec.structs.replace(row.body, is_method_done=True))
    await move_authentication(app.database, sign_authentication(app, done), Stage.OPEN)


async def _find(app: App, shopper_token: ShopperToken) -> AuthenticationRow | None:
    row = await find_authentication(app.database, shopper_token.merchant_id, shopper_token.payment_id)
    return None if row is None else check_authentication(app, row)


async def _finish_without_browser(app: App, row: AuthenticationRow) -> None:
    """The issuer asked the shopper elsewhere: nobody comes back, so the payment goes on at once, without its code."""
    payment = await find_payment(app.database, row.merchant_id, row.id)
    if payment is not None and payment.state is State.WAITING:
        await finish(app, await get_payment(app, payment, payment.id), row.body, None)
