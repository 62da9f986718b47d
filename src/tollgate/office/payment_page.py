"""The page of one payment: its facts, its chain, what its result means, what can be done, and its timeline.

Actions are carried out by the modules beside this one.
"""

from tollgate.catalog.advice import get_advice
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.permissions import Permission
from tollgate.catalog.results import CAUSES, RESULTS
from tollgate.contract.payment_text import group_echo, render_curl, render_number
from tollgate.flows.evidence import DISPUTES
from tollgate.office.chain_picture import BOX_HEIGHT, BOX_WIDTH, draw_chain
from tollgate.office.chains import TAMPERED, get_found
from tollgate.office.disputes import get_deadline
from tollgate.office.payment_actions import list_offers, make_form_key
from tollgate.office.recording import REASONS, list_facts
from tollgate.office.timeline import list_items
from tollgate.office.uploads import make_ticket
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit
from tollgate.payments.payment import Payment, State
from tollgate.store import evidence
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()

_STATE_TONES = {State.APPROVED: "good", State.DECLINED: "bad"}


def _describe_account(payment: Payment) -> str:
    card = payment.card
    if card is None:
        return ""
    return f"{render_number(card)}, {card.expiry_month}/{card.expiry_year}" + (
        f", {card.holder}" if card.holder else ""
    )


@ROUTES.add("GET", f"{OF_MERCHANT}/payments/{{id}}", Permission.VIEW_PAYMENTS)
async def show_payment(visit: Visit) -> Reply:
    """Shows one payment with everything that is known about it."""
    found = await get_found(visit, visit.names[0])
    payment = found.payment
    label = PAYMENT_TYPES[payment.payment_type].label
    title = f"{label.capitalize()} {payment.short_id}"
    if payment.id in found.tampered:
        return visit.render("payment_tampered.html", title=title, payment=payment, text=TAMPERED)
    result = RESULTS.get(payment.result_code)
    is_dispute = payment.action in DISPUTES
    files = await evidence.list_evidence(visit.app.database, payment.merchant_id, payment.id) if is_dispute else []
    return visit.render(
        "one_payment.html",
        title=title,
        found=found,
        payment=payment,
        label=label,
        account=_describe_account(payment),
        groups=group_echo(payment.echo),
        result=result,
        cause=CAUSES.get(payment.result_code),
        advice=None if result is None else get_advice(result.code),
        tone=_STATE_TONES.get(payment.state, "open"),
        picture=draw_chain(found.chain[: LIMITS.chain_shown]),
        box=(BOX_WIDTH, BOX_HEIGHT),
        chain_hidden=max(0, len(found.chain) - LIMITS.chain_shown),
        curl=render_curl(payment, visit.app.base_url),
        offers=await list_offers(visit, found),
        facts=await list_facts(visit, found),
        reasons=REASONS,
        key=make_form_key(visit),
        items=await list_items(visit, found),
        sees_messages=visit.may(Permission.VIEW_MESSAGES, found.channel.id),
        is_dispute=is_dispute,
        deadline=get_deadline(payment),
        may_record=visit.may(Permission.RECORD_FACTS, found.channel.id),
        files=files,
        files_max=LIMITS.evidence_per_dispute_max,
        ticket=make_ticket(visit),
        tampered=TAMPERED if found.tampered else "",
    )
