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
    if test_mode is TestMode.INTERNAL and house.simulator is not None:
        return Route(connector, house.simulator, approved_code)
    address = channel.test_url if test_mode is TestMode.EXTERNAL else channel.live_url
    if not address:
        missing = "no test system" if test_mode is TestMode.EXTERNAL else "no acquirer"
        raise Refusal(get_result("600.200.700"), f"{missing} is configured for this channel")
    return Route(connector, house.find_wire(address), approved_code)


def choose_directory(house: House, channel: Channel, test_mode: TestMode | None) -> DirectoryRoute | None:
    """None where the channel has no directory server, so that nobody can be authenticated."""
    terms = channel.three_ds or _NO_TERMS
    if test_mode is TestMode.INTERNAL:
        return None if house.simulator is None else DirectoryRoute(_SIMULATED, house.simulator, terms)
    address = terms.test_url if test_mode is TestMode.EXTERNAL else terms.live_url
    return DirectoryRoute(address, house.find_wire(address), terms) if address else None
