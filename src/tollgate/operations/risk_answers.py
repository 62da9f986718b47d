"""The second judgement of a payment, by what the acquirer answered with its approval, and whether it is under review.

Nothing is sent here.
"""

import msgspec

from tollgate.catalog import card_checks, codes, results
from tollgate.operations.app import App
from tollgate.payments import reviews
from tollgate.payments.payment import Outcome, Payment, Verdict
from tollgate.payments.risk import RiskFinding, RiskOutcome
from tollgate.payments.risk_evaluation import evaluate_answers
from tollgate.store.reviews import find_review


def choose_verdict(app: App, started: Payment, verdict: Verdict) -> Verdict:
    """Returns the verdict as the risk rules leave it: refused, approved with a review, or as it is.

    Every approval of a charge passes here, whoever completes it.
    """
    if verdict.outcome is not Outcome.APPROVED or not started.is_charge:
        return verdict
    channel = app.merchants.find_channel(started.channel_id)
    rules = None if channel is None else app.merchants.get_risk_rules(channel)
    finding = started.risk
    if rules is not None and rules.answers:
        avs, cvv = (verdict.details.get(name, "") for name in card_checks.MEMBERS)
        finding = evaluate_answers(rules, started.risk, avs, cvv)
    if finding is None:
        if not results.awaits_decision(verdict.code):
            return verdict
        # A finding is signed with the payment, so the audit knows that a review was opened with it.
        return msgspec.structs.replace(verdict, risk=RiskFinding())
    if finding.outcome is RiskOutcome.REFUSE:
        return msgspec.structs.replace(verdict, outcome=Outcome.REFUSED, code=finding.code, risk=finding)
    code = verdict.code
    if finding.outcome is RiskOutcome.REVIEW and not results.awaits_decision(code):
        code = finding.code or codes.REVIEW
    return msgspec.structs.replace(verdict, code=code, risk=finding)


async def is_under_review(app: App, named: Payment) -> bool:
    """Tells whether somebody has yet to decide; a review is never opened again, so what is read here stays true.

    One that was rejected after the payment was read counts as open, because nothing may be taken any more.
    """
    if not reviews.awaits_decision(named):
        return False
    review = await find_review(app.database, named.merchant_id, named.id)
    return review is not None and review.state in (reviews.ReviewState.OPEN, reviews.ReviewState.REJECTED)
