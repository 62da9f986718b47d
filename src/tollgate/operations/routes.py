"""Routes: the connector and the wire that a payment takes. Nothing is sent here."""

from contextlib import suppress

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.results import get_result
from tollgate.connectors.exchange import AcquirerAccount, Connector
from tollgate.connectors.table import CONNECTORS, get_connector
from tollgate.operations.app import SUCCESS_CODES, App
from tollgate.operations.sepa_queue import SepaQueue
from tollgate.operations.success_rates import UNTRIED, list_buckets
from tollgate.payments import routing
from tollgate.payments.merchants import AcquirerTerms, Channel, RoutingTerms, ThreeDsTerms
from tollgate.payments.order import Order, TestMode
from tollgate.payments.payment import Payment
from tollgate.values import Instant, PaymentId, Refusal
from tollgate.wire import Wire


class Route(msgspec.Struct, frozen=True):
    connector: Connector
    wire: Wire
    approved_code: str
    name: ConnectorName | None = None
    """The connector that the channel has chosen; None for the one that the brand has by itself."""
    needs_account: bool = False
    """Messages about an earlier payment carry the account that it charged."""
    takes_tokens: bool = True
    account_id: str | None = None
    """The acquirer account; None for the one that has the id of the channel."""
    considered: tuple[routing.Considered, ...] = ()
    """The accounts among which it was chosen; none where there was one only."""
    alternatives: "tuple[Route, ...]" = ()
    """The routes to try next, in their order, for what certainly was never sent."""


class DirectoryServerRoute(msgspec.Struct, frozen=True):
    """The address, wire and terms of a directory server."""

    address: str
    wire: Wire
    terms: ThreeDsTerms


_SIMULATED = "simulator"
# Looking a member up in its enumeration takes as long as a call, and every payment asks three times.
_INTERNAL, _EXTERNAL = TestMode.INTERNAL, TestMode.EXTERNAL
_NO_TERMS, _NO_ACQUIRER = ThreeDsTerms(), AcquirerTerms()


def route_payment(app: App, channel: Channel, order: Order, payment_id: PaymentId) -> Route:
    """Chooses among the acquirer accounts of a channel; an account that cannot take the order is noted with its reason.

    The id of the payment is the seed of what is left to chance.
    """
    accounts = app.merchants.list_accounts(channel)
    # Nothing is weighed where there is nothing to choose, as for most channels.
    if len(accounts) == 1 or BRANDS[order.brand].protocol is Protocol.SEPA:
        return choose_route(app, channel, order.test_mode, order.brand)
    terms, now = channel.routing or RoutingTerms(), app.clock.now()
    buckets = list_buckets(order) if terms.strategy is routing.Strategy.SUCCESS else None
    routes: dict[str, Route] = {}
    candidates: list[routing.Candidate] = []
    refusals: list[Refusal] = []
    for account in accounts:
        obstacle = ""
        try:
            route = choose_route(app, account, order.test_mode, order.brand)
            _refuse_missing_secrets(app, account, order.test_mode)
            routes[account.first_account_id] = route
        except Refusal as refusal:
            refusals.append(refusal)
            obstacle = refusal.detail or refusal.result.description
        candidates.append(_make_candidate(app, account, buckets, obstacle, now))
    if not routes:
        raise refusals[0]
    decision = routing.choose(candidates, order.money.hundredths, terms.strategy, terms.exploration, payment_id)
    app.circuits.begin_probe(decision.order[0], now)
    first, *others = (routes[account_id] for account_id in decision.order)
    return msgspec.structs.replace(first, considered=decision.considered, alternatives=tuple(others))


def _refuse_missing_secrets(app: App, channel: Channel, test_mode: TestMode | None) -> None:
    """Refuses an account that its acquirer would not recognise, as long as another account can take the payment."""
    account = find_account(app, channel, test_mode)
    missing = [] if account is None else CONNECTORS[account.connector].list_missing(account)
    if missing:
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), f"the account has no secret {missing[0]}")


def _make_candidate(
    app: App, account: Channel, buckets: tuple[str, str] | None, obstacle: str, now: Instant
) -> routing.Candidate:
    """Returns an account with what is known of it; without buckets, how often it approves is of no interest."""
    terms, account_id = account.acquirer or _NO_ACQUIRER, account.first_account_id
    rate = app.success_rates.estimate(account.merchant_id, account_id, buckets, now) if buckets else UNTRIED
    return routing.Candidate(
        id=account_id,
        priority=terms.priority,
        weight=terms.weight,
        cost_fixed=terms.cost_fixed,
        cost_rate=terms.cost_rate,
        obstacle=obstacle,
        is_failing=app.circuits.is_open(account_id, now),
        tries=rate.tries,
        approvals=rate.approvals,
    )


def choose_route(app: App, channel: Channel, test_mode: TestMode | None, brand: str) -> Route:
    approved_code = SUCCESS_CODES[test_mode]
    if not app.may_handle(test_mode):
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), "the payment belongs to another environment")
    protocol = BRANDS[brand].protocol
    own = get_connector(brand)
    if protocol is Protocol.SEPA:
        # Instructions to banks go into files, which this host writes itself.
        queue = SepaQueue(app.database, channel.merchant_id, channel, app.clock)
        return Route(own, app.disturb(queue), approved_code)
    account = find_account(app, channel, test_mode)
    wire = _choose_wire(app, channel, test_mode, account)
    if account is None or account.connector is ConnectorName.JSON:
        return Route(own, wire, approved_code, account_id=channel.account_id)
    row = CONNECTORS[account.connector]
    if protocol not in row.protocols:
        raise Refusal(get_result(codes.NO_CONTRACT), f"the acquirer of this channel does not take {brand}")
    return Route(
        row.make(account),
        wire,
        approved_code,
        account.connector,
        row.needs_account,
        row.takes_tokens,
        channel.account_id,
    )


def find_view(app: App, channel: Channel, account_id: str | None) -> Channel | None:
    """Returns the channel as one of its accounts would have it, be it closed; None if it has no such account."""
    if account_id == channel.account_id:
        return channel
    wanted = account_id or channel.id
    accounts = app.merchants.list_accounts(channel, closed=True)
    return next((each for each in accounts if each.first_account_id == wanted), None)


def get_route(app: App, channel: Channel, payment: Payment) -> Route:
    """Returns the route to the acquirer account that has a payment, which may be closed for others since."""
    account = find_view(app, channel, payment.account_id)
    route = choose_route(app, account, payment.test_mode, payment.brand) if account else None
    if route is None or route.name != payment.connector:
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), "the channel no longer has the acquirer of this payment")
    return route


def resume_route(app: App, channel: Channel, payment: Payment) -> Route:
    """Returns the route of a payment that was not sent yet, with the accounts to try next as far as they are open."""
    usable = [each.account_id for each in payment.routing if each.score is not None]
    later = usable[usable.index(payment.account_id or channel.id) + 1 :] if usable else []
    views = {each.first_account_id: each for each in app.merchants.list_accounts(channel)}
    others = []
    for account_id in later:
        # An account may have been closed or changed while the shopper was away.
        with suppress(KeyError, Refusal):
            others.append(choose_route(app, views[account_id], payment.test_mode, payment.brand))
    return msgspec.structs.replace(get_route(app, channel, payment), alternatives=tuple(others))


def bind_to_proof(app: App, payment: Payment, route: Route) -> Route:
    """Leaves the accounts to try next that can take a proof of 3-D Secure: it was made for the numbers of the acquirer
    and of the merchant there, by one directory server.
    """
    channel = app.merchants.get_channel(payment.channel_id)
    views = {each.account_id: each for each in app.merchants.list_accounts(channel, closed=True)}

    def list_told(account_id: str | None) -> tuple[str | None, str, str]:
        directory = choose_directory_server(app, views[account_id], payment.test_mode)
        terms = views[account_id].three_ds or _NO_TERMS
        return directory.address if directory else None, terms.acquirer_bin, terms.acquirer_merchant_id

    fit = [each for each in route.alternatives if list_told(each.account_id) == list_told(route.account_id)]
    return msgspec.structs.replace(route, alternatives=tuple(fit))


def find_account(app: App, channel: Channel, test_mode: TestMode | None) -> AcquirerAccount | None:
    """Returns the account of a channel at its acquirer; None for the simulator, which speaks JSON and knows none."""
    if channel.acquirer is None or not find_address(test_mode, channel.test_url, channel.live_url):
        return None
    return app.merchants.get_acquirer_account(channel.first_account_id)


def check_reachable(app: App, channel: Channel, test_mode: TestMode | None, brand: str | None) -> None:
    """Refuses a request that no account of the channel could take; without a brand, one reachable protocol is enough.

    Direct debits go into files, which needs a creditor and no address.
    """
    if brand is None and channel.creditor is not None:
        return
    refusals: list[Refusal] = []
    for account in app.merchants.list_accounts(channel):
        try:
            if brand is None:
                _choose_wire(app, account, test_mode, find_account(app, account, test_mode))
            else:
                choose_route(app, account, test_mode, brand)
        except Refusal as refusal:
            refusals.append(refusal)
        else:
            return
    raise refusals[0]


def _choose_wire(app: App, channel: Channel, test_mode: TestMode | None, account: AcquirerAccount | None) -> Wire:
    address = find_address(test_mode, channel.test_url, channel.live_url)
    if address:
        return app.find_wire(address, account)
    if app.simulator is None or test_mode is None:
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), "no acquirer is configured for this channel")
    # Existing clients send testMode=EXTERNAL to hosts on which nobody has configured a test system.
    return app.simulator


def find_address(test_mode: TestMode | None, test_url: str | None, live_url: str | None) -> str | None:
    """Returns the configured address for a mode; INTERNAL has none, because the simulator always answers it."""
    if test_mode is _INTERNAL:
        return None
    return test_url if test_mode is _EXTERNAL else live_url


def choose_directory_server(app: App, channel: Channel, test_mode: TestMode | None) -> DirectoryServerRoute | None:
    """Returns None where the channel has no directory server, so that nobody can be authenticated."""
    terms = channel.three_ds or _NO_TERMS
    address = find_address(test_mode, terms.test_url, terms.live_url)
    if address:
        return DirectoryServerRoute(address, app.find_wire(address), terms)
    simulator = find_stand_in(app, channel, test_mode)
    return None if simulator is None else DirectoryServerRoute(_SIMULATED, simulator, terms)


def find_stand_in(app: App, channel: Channel, test_mode: TestMode | None) -> Wire | None:
    """Returns the simulator in place of a directory server or token vault that is not configured.

    A simulated proof is never sent to a real test system: if the acquirer has an address, the result is None.
    """
    is_simulated = test_mode is not None and not find_address(test_mode, channel.test_url, None)
    return app.simulator if is_simulated else None
