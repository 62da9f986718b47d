"""The back-test: judges stored payments by rules as if these had been active, and reports what became of the payments.

Nothing is written, and nothing is sent.
"""

import heapq
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.catalog.risk_rows import Attribute
from tollgate.contract.risk_rules import read_person
from tollgate.operations import payment_history, registration_history, risk
from tollgate.operations.app import App
from tollgate.operations.risk_values import make_values
from tollgate.payments.accounts import Instrument
from tollgate.payments.payment import Payment
from tollgate.payments.reporting import FOREVER
from tollgate.payments.risk import RiskFinding, Rule
from tollgate.payments.risk_evaluation import CompiledRules, compile_rules
from tollgate.payments.risk_replay import Past, evaluate_payment
from tollgate.payments.risk_report import Report, list_fates
from tollgate.payments.velocities import WRONG_TRIES, Sighting
from tollgate.store import reports
from tollgate.values import HOUR, SECOND, Instant, MerchantId, Refusal


class Judged(msgspec.Struct, frozen=True):
    payment: Payment
    finding: RiskFinding


class _Replay:
    """The rules of each channel of a merchant, and the past as the next payment sees it."""

    def __init__(
        self, app: App, merchant_id: MerchantId, rules: Sequence[Rule], begins_at: Instant, ends_at: Instant
    ) -> None:
        self._app = app
        every = compile_rules(rules)
        self._counted = every.windows_s
        entries = app.merchants.list_risk_entries(merchant_id)
        self._rules: dict[str, CompiledRules] = {
            channel.id: compile_rules([rule for rule in rules if rule.channel_id in ("", channel.id)], entries)
            for channel in app.merchants.list_channels(merchant_id)
        }
        self._past = Past(every.windows_s, {(attribute, window_s) for attribute, window_s, _ in every.totals})
        self._wrong: list[tuple[Instant, str, Attribute, Sighting]] = []
        """Wrong tries of which the result is not known yet at the time that is judged."""
        self.needed = frozenset(every.attributes.union(*[each.listed for each in self._rules.values()]))
        self.begins_at = begins_at - max(every.windows_s.values(), default=0) * SECOND - HOUR
        """The time from which others are read: totals begin with a full minute, and a wrong try counts from the answer
        on, which comes after its payment."""
        self._registered = registration_history.read_sightings(
            app, merchant_id, self._counted.keys(), self.begins_at, ends_at
        )
        self._next_registered: tuple[Attribute, Sighting] | None = None

    async def evaluate_next(self, payment: Payment, account: Instrument | None) -> RiskFinding:
        """Judges the next payment as the gateway would have done, before it was sent and then by its answers."""
        subject, rules = risk.make_subject(payment, account), self._rules[payment.channel_id]
        person = read_person(subject.echo, subject.card)
        values = make_values(self._app.keyring, subject, person, self.needed, frozenset(self._counted))
        facts = await risk.make_facts(self._app, rules, subject, person, values)
        await self._see_until(subject.at)
        finding = evaluate_payment(rules, facts, self._past.read_velocities(rules, facts), payment)
        for attribute, row in values.list_seen():
            if attribute in WRONG_TRIES:
                heapq.heappush(self._wrong, (row.at, row.payment_id, attribute, row))
            else:
                self._past.add(attribute, row.key, row)
        if self._past.sightings > LIMITS.tried_sightings_max:
            detail = f"more than {LIMITS.tried_sightings_max} values lie within the longest window: shorten the windows"
            raise Refusal(get_result(codes.INVALID_REQUEST), detail)
        return finding

    async def _see_until(self, at: Instant) -> None:
        """Adds the wrong tries that were known, and what was registered without a payment, before an instant."""
        while self._wrong and self._wrong[0][0] < at:
            _, _, attribute, row = heapq.heappop(self._wrong)
            self._past.add(attribute, row.key, row)
        while found := self._next_registered or await anext(self._registered, None):
            attribute, row = self._next_registered = found
            if row.at >= at:
                break
            self._past.add(attribute, row.key, row)
            self._next_registered = None


async def evaluate_history(
    app: App, merchant_id: MerchantId, rules: Sequence[Rule], *, begins_at: Instant = 0, ends_at: Instant = FOREVER
) -> AsyncIterator[list[Judged]]:
    """Yields the payments between two instants with what the rules would have said, a page at a time.

    Payments before them are read too, as far back as the longest window reaches.
    """
    replay = _Replay(app, merchant_id, rules, begins_at, ends_at)
    channels = app.merchants.list_channels(merchant_id)
    async for page in payment_history.read_payments(app, channels, replay.begins_at, ends_at):
        judged = [payment for payment in page if payment.is_charge]
        accounts = await risk.open_accounts(app, judged, replay.needed)
        found = [Judged(each, await replay.evaluate_next(each, accounts.get(each.id))) for each in judged]
        yield [each for each in found if each.payment.created_at >= begins_at]


async def try_rules(
    app: App, merchant_id: MerchantId, rules: Sequence[Rule], *, begins_at: Instant = 0, ends_at: Instant = FOREVER
) -> Report:
    report = Report()
    async for page in evaluate_history(app, merchant_id, rules, begins_at=begins_at, ends_at=ends_at):
        chains = await _list_chains(app, merchant_id, [each.payment for each in page])
        for each in page:
            fates = list_fates(each.payment, chains.get(each.payment.id, ()))
            report.add(each.payment, each.finding, fates)
    return report


async def _list_chains(app: App, merchant_id: MerchantId, page: Sequence[Payment]) -> Mapping[str, list[Payment]]:
    """Reads what followed the payments of a page, for those that anything followed."""
    first_ids = [payment.id for payment in page if payment.balance.chain_length > 1]
    if not first_ids:
        return {}
    limit = len(first_ids) * LIMITS.chain_rows_max
    return await reports.list_chains(app.database, merchant_id, first_ids, limit)
