"""The page of one payment: its facts, its chain, what its result means, what can be done, and its timeline.

Actions are carried out by the modules beside this one.
"""

from tollgate.catalog import advice, limits, payment_types, permissions, results
from tollgate.contract.payment_text import group_echo, render_curl, render_number
from tollgate.flows.evidence import DISPUTES
from tollgate.office import (
    chain_picture,
    chains,
    disputes,
    findings,
    form_keys,
    payment_actions,
    recording,
    timeline,
    uploads,
    visits,
)
from tollgate.payments.chain import count_left
from tollgate.payments.payment import Payment, State
from tollgate.store import evidence
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()

_STATE_TONES = {State.APPROVED: "good", State.DECLINED: "bad"}


def _describe_account(payment: Payment) -> str:
    card = payment.card
    if card is None:
        return ""
    return f"{render_number(card)}, {card.expiry_month}/{card.expiry_year}" + (
        f", {card.holder}" if card.holder else ""
    )


@ROUTES.add("GET", f"{visits.OF_MERCHANT}/payments/{{id}}", permissions.Permission.VIEW_PAYMENTS)
async def show_payment(visit: visits.Visit) -> Reply:
    """Shows one payment with everything that is known about it."""
    found = await chains.get_found(visit, visit.names[0])
    payment = found.payment
    label = payment_types.PAYMENT_TYPES[payment.payment_type].label
    title = f"{label.capitalize()} {payment.short_id}"
    if payment.id in found.tampered:
        return visit.render("payment_tampered.html", title=title, payment=payment, text=chains.TAMPERED)
    result = results.RESULTS.get(payment.result_code)
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
        cause=results.CAUSES.get(payment.result_code),
        advice=None if result is None else advice.get_advice(result.code),
        tone=_STATE_TONES.get(payment.state, "open"),
        picture=chain_picture.draw_chain(found.chain[: limits.LIMITS.chain_shown]),
        box=(chain_picture.BOX_WIDTH, chain_picture.BOX_HEIGHT),
        chain_hidden=max(0, len(found.chain) - limits.LIMITS.chain_shown),
        left=count_left(payment, {each.id: each for each in found.chain}),
        curl=render_curl(payment, visit.app.base_url),
        offers=await payment_actions.list_offers(visit, found),
        facts=await recording.list_facts(visit, found),
        reasons=recording.REASONS,
        key=form_keys.make_form_key(visit),
        items=await timeline.list_items(visit, found),
        sees_messages=visit.may(permissions.Permission.VIEW_MESSAGES, found.channel.id),
        is_dispute=is_dispute,
        deadline=disputes.get_deadline(payment),
        may_record=visit.may(permissions.Permission.RECORD_FACTS, found.channel.id),
        files=files,
        files_max=limits.LIMITS.evidence_per_dispute_max,
        ticket=uploads.make_ticket(visit, uploads.EVIDENCE_BODY),
        **await findings.list_values(visit, found),
        tampered=chains.TAMPERED if found.tampered else "",
    )
