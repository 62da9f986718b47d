"""Which wire a request takes and which code its success has. Decided by table from channel, test mode and host."""

from __future__ import annotations

import msgspec

from tollgate.catalog import BRANDS, Protocol, get_result
from tollgate.connectors import Connector, find_connector
from tollgate.payments import Channel, TestMode, ThreeDsTerms
from tollgate.steps.desk import BankDesk
from tollgate.steps.house import SUCCESS_CODES, House
from tollgate.values import Refusal
from tollgate.wire import Wire


class Route(msgspec.Struct, frozen=True):
    connector: Connector
    wire: Wire
    approved_code: str


class DirectoryRoute(msgspec.Struct, frozen=True):
    """The way to a directory server."""

    address: str
    wire: Wire
    terms: ThreeDsTerms


_SIMULATED = "simulator"
_NO_TERMS = ThreeDsTerms()


def choose_route(house: House, channel: Channel, test_mode: TestMode | None, brand: str) -> Route:
    approved_code = SUCCESS_CODES[test_mode]
    if house.is_live is not (test_mode is None):
        # Stores get copied: nothing about a real payment may leave a test host, nor about a test payment a live host.
        raise Refusal(get_result("600.200.700"), "the payment belongs to another environment")
    connector = find_connector(brand)
    if BRANDS[brand].protocol is Protocol.SEPA:
        # Banks are told by files, and the desk that writes them is in the house.
        desk = BankDesk(house.database, channel.merchant_id, channel, house.clock)
        return Route(connector, house.disturb(desk), approved_code)
    return Route(connector, _choose_wire(house, channel, test_mode), approved_code)


def check_reachable(house: House, channel: Channel, test_mode: TestMode | None, brand: str | None) -> None:
    """Refuses a request that the channel could not send to anybody; without a brand, one reachable protocol is enough.

    Direct debits go into files, which needs a creditor and no address.
    """
    if brand is not None:
        choose_route(house, channel, test_mode, brand)
    elif channel.creditor is None:
        _choose_wire(house, channel, test_mode)


def has_acquirer(house: House, channel: Channel) -> bool:
    """Tells whether cards and providers can be reached at all; `choose_route` refuses a payment where they cannot."""
    return house.simulator is not None or channel.live_url is not None


def _choose_wire(house: House, channel: Channel, test_mode: TestMode | None) -> Wire:
    address = find_address(test_mode, channel.test_url, channel.live_url)
    if address:
        return house.find_wire(address)
    if house.simulator is None or test_mode is None:
        raise Refusal(get_result("600.200.700"), "no acquirer is configured for this channel")
    # Existing clients send testMode=EXTERNAL to hosts on which nobody has configured a test system.
    return house.simulator


def find_address(test_mode: TestMode | None, test_url: str | None, live_url: str | None) -> str | None:
    """Returns the configured address for a mode; INTERNAL has none, because the simulator always answers it."""
    if test_mode is TestMode.INTERNAL:
        return None
    return test_url if test_mode is TestMode.EXTERNAL else live_url


def choose_directory(house: House, channel: Channel, test_mode: TestMode | None) -> DirectoryRoute | None:
    """None where the channel has no directory server, so that nobody can be authenticated."""
    terms = channel.three_ds or _NO_TERMS
    address = find_address(test_mode, terms.test_url, terms.live_url)
    if address:
        return DirectoryRoute(address, house.find_wire(address), terms)
    simulator = find_stand_in(house, channel, test_mode)
    return None if simulator is None else DirectoryRoute(_SIMULATED, simulator, terms)


def find_stand_in(house: House, channel: Channel, test_mode: TestMode | None) -> Wire | None:
    """Returns the simulator in place of a directory server or token vault that is not configured.

    A simulated proof is never sent to a real test system: if the acquirer has an address, the result is None.
    """
    is_simulated = test_mode is not None and not find_address(test_mode, channel.test_url, None)
    return house.simulator if is_simulated else None
