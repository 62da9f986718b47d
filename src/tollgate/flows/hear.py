"""What partners tell without being asked: the result of a challenge, and that an issuer's hidden page is done.

A result counts once, only for a challenge that is open, and only from who knows the address that it was promised to.
"""

from __future__ import annotations

from hmac import compare_digest

import msgspec

from tollgate.connectors import threeds
from tollgate.contract import Ticket, read_ticket
from tollgate.flows.resume import finish
from tollgate.payments import AuthenticationRow, Stage, State
from tollgate.steps import House, get_payment, seal_case, trust_case
from tollgate.store import find_authentication, find_payment, move_authentication
from tollgate.vault import hash_once_key


async def hear_result(house: House, ticket_text: str, body: bytes) -> bytes:
    """Answers in the words of the protocol, whatever was sent."""
    ticket = read_ticket(ticket_text)
    row = None if ticket is None else await _find(house, ticket)
    if ticket is None or row is None or not compare_digest(row.body.results_hash, hash_once_key(ticket.key)):
        return threeds.answer_result(body, None, accepted=False)
    result = threeds.read_result(body, row.body) if row.stage is Stage.CHALLENGED else None
    if result is None or row.expires_at <= house.clock.now():
        return threeds.answer_result(body, row.body, accepted=False)
    answered = msgspec.structs.replace(row, stage=Stage.ANSWERED, body=msgspec.structs.replace(row.body, result=result))
    accepted = await move_authentication(house.database, seal_case(house, answered), Stage.CHALLENGED)
    if accepted and row.body.acs_url is None:
        await _finish_without_browser(house, answered)
    return threeds.answer_result(body, row.body, accepted=accepted)


async def hear_method(house: House, ticket_text: str, server_id: str | None) -> None:
    """Only a hint to the issuer, so whoever lies about it hurts nobody."""
    ticket = read_ticket(ticket_text)
    row = None if ticket is None else await _find(house, ticket)
    if row is None or row.stage is not Stage.OPEN or row.body.server_id != server_id:
        return
    done = msgspec.structs.replace(row, body=msgspec.structs.replace(row.body, is_method_done=True))
    await move_authentication(house.database, seal_case(house, done), Stage.OPEN)


async def _find(house: House, ticket: Ticket) -> AuthenticationRow | None:
    row = await find_authentication(house.database, ticket.merchant_id, ticket.payment_id)
    return None if row is None else trust_case(house, row)


async def _finish_without_browser(house: House, row: AuthenticationRow) -> None:
    """The issuer asked the shopper elsewhere: nobody comes back, so the payment goes on at once, without its code."""
    payment = await find_payment(house.database, row.merchant_id, row.id)
    if payment is not None and payment.state is State.WAITING:
        await finish(house, await get_payment(house, payment, payment.id), row.body, None)
