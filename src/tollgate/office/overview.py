"""The overview: volume, approval rate and declines of a period, as charts with their numbers beside them.

Sums are made in the flows; amounts of different currencies are never added.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import msgspec

from tollgate.catalog import limits, payment_types, permissions, results
from tollgate.contract.search_words import begin_day
from tollgate.flows.overview import Figures, group_tallies, is_approved, is_incoming, sum_payments
from tollgate.office import charts, payment_queries, visits
from tollgate.store.search_index import HourTally
from tollgate.values import DAY, HOUR, Instant, to_datetime
from tollgate.web.pages import showing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PERIODS = {"today": 1, "7": 7, "30": 30}
_PERIOD_NAMES = (("today", "Today"), ("7", "7 days"), ("30", "30 days"), ("custom", "From and to"))
_DEFAULT = "7"
_BY_THE_HOUR_UP_TO = 2 * DAY
_NOTHING = Figures(count=0, approved=0, amount=0)
_HUNDRED = 100


class Line(msgspec.Struct, frozen=True):
    """A row of a table: what it counts, its meaning, its numbers, and its part of the whole in hundredths."""

    name: str
    text: str
    figures: Figures
    share: int


class Breakdown(msgspec.Struct, frozen=True):
    title: str
    name: str
    """The heading of its first column."""
    lines: list[Line]


class CurrencyPart(msgspec.Struct, frozen=True):
    """Everything about the payments of one currency."""

    currency: str
    total: Figures
    counts: charts.Chart
    volumes: charts.Chart
    steps: list[tuple[str, Figures]]
    breakdowns: list[Breakdown]
    declines: list[Line]


class Period(msgspec.Struct, frozen=True):
    name: str
    begins_at: Instant
    ends_at: Instant

    @property
    def hours(self) -> int:
        return 1 if self.ends_at - self.begins_at <= _BY_THE_HOUR_UP_TO else 24

    @property
    def steps(self) -> range:
        """Returns the numbers of its hours or days since 1970."""
        step = self.hours * HOUR
        return range(self.begins_at // step, -(-self.ends_at // step))

    def label(self, number: int) -> str:
        moment = to_datetime(number * self.hours * HOUR)
        if self.hours > 1:
            return f"{moment:%Y-%m-%d}"
        return f"{moment:%m-%d %H:00}" if self.ends_at - self.begins_at > DAY else f"{moment:%H:00}"


def read_period(visit: visits.Visit) -> Period:
    """Reads the period of the address; days are those of UTC."""
    name, today = visit.find("period") or _DEFAULT, to_datetime(visit.app.clock.now()).date()
    if name in _PERIODS:
        first = today - timedelta(days=_PERIODS[name] - 1)
        return Period(name, begin_day(first), begin_day(today) + DAY)
    if name != "custom":
        raise visits.refuse_field("period", "must be today, 7, 30 or custom")
    first, last = payment_queries.read_day(visit.find("from"), "from"), payment_queries.read_day(visit.find("to"), "to")
    if not 0 <= (last - first).days < limits.LIMITS.overview_days_max:
        raise visits.refuse_field(
            "to", f"must be from 0 to {limits.LIMITS.overview_days_max - 1} days after the first day"
        )
    return Period(name, begin_day(first), begin_day(last) + DAY)


@ROUTES.add("GET", f"{visits.OF_MERCHANT}/overview", permissions.Permission.VIEW_PAYMENTS, may_be_behind=True)
async def show_overview(visit: visits.Visit) -> Reply:
    """Shows sums of a period, by currency, time, result code, brand, type and channel."""
    period = read_period(visit)
    channels: dict[str, str] = {channel.id: channel.name for channel in visit.list_channels()}
    merchant_id = visit.get_merchant().id
    summed = await sum_payments(
        visit.app, merchant_id, channels.keys(), period.begins_at, period.ends_at, hours=period.hours
    )
    by_currency: dict[str, list[HourTally]] = {}
    for tally in summed.tallies:
        by_currency.setdefault(tally.currency, []).append(tally)
    parts = [make_part(currency, tallies, period, channels) for currency, tallies in by_currency.items()]
    return visit.render(
        "overview.html",
        title="Overview",
        parts=sorted(parts, key=lambda part: -part.total.count),
        period=period,
        first_day=f"{to_datetime(period.begins_at):%Y-%m-%d}",
        last_day=f"{to_datetime(period.ends_at - 1):%Y-%m-%d}",
        is_complete=summed.is_complete,
        names=_PERIOD_NAMES,
        entity_id=next(iter(channels), "") if visit.may(permissions.Permission.VIEW_ACCOUNT) else "",
    )


def make_part(currency: str, tallies: Sequence[HourTally], period: Period, channels: Mapping[str, str]) -> CurrencyPart:
    """Makes the charts and tables of one currency. Volume and approval rate are those of payments that begin a chain
    with the shopper's money; refunds, captures and the like are listed by type."""
    incoming = [tally for tally in tallies if is_incoming(tally)]
    by_step = group_tallies(incoming, lambda tally: tally.hour)
    steps = [(period.label(number), by_step.get(number, _NOTHING)) for number in period.steps]
    refused = [tally for tally in tallies if not is_approved(tally)]
    return CurrencyPart(
        currency=currency,
        total=group_tallies(incoming, lambda _: "").get("", _NOTHING),
        counts=charts.draw_columns([_draw_counts(label, each) for label, each in steps], str),
        volumes=charts.draw_columns([_draw_volume(label, each, currency) for label, each in steps], _render_level),
        steps=steps,
        breakdowns=[
            Breakdown("By brand", "Brand", _list_lines(incoming, lambda tally: tally.brand or "none", {})),
            Breakdown("By type", "Type", _list_lines(tallies, lambda tally: tally.payment_type, _TYPES)),
            Breakdown("By channel", "Channel", _list_lines(incoming, lambda tally: tally.channel_id, channels)),
        ],
        declines=_list_lines(refused, lambda tally: tally.result_code, _MEANINGS),
    )


_TYPES = {code: row.label for code, row in payment_types.PAYMENT_TYPES.items()}
_MEANINGS = {code: row.text for code, row in results.RESULTS.items()}


def _list_lines(tallies: Sequence[HourTally], key: Callable[[HourTally], str], texts: Mapping[str, str]) -> list[Line]:
    groups = group_tallies(tallies, key)
    whole = sum(figures.count for figures in groups.values())
    ranked = sorted(groups.items(), key=lambda item: (-item[1].count, item[0]))
    return [
        Line(name, texts.get(name, ""), figures, round(_HUNDRED * figures.count / whole)) for name, figures in ranked
    ]


def _draw_counts(label: str, figures: Figures) -> charts.Column:
    # The axis has room for the month and day, or for the hour.
    title = f"{label}: {figures.approved} approved, {figures.declined} declined"
    return charts.Column(
        label[-5:], title, (charts.Part(figures.approved, "good"), charts.Part(figures.declined, "bad"))
    )


def _draw_volume(label: str, figures: Figures, currency: str) -> charts.Column:
    return charts.Column(
        label[-5:], f"{label}: {showing.show_amount(figures.amount, currency)}", (charts.Part(figures.amount, ""),)
    )


def _render_level(hundredths: int) -> str:
    return showing.show_amount(hundredths).removesuffix(".00")
