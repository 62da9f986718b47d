"""A request's channel and mode decide which wire it takes and which code its success has."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.operations.routes import check_reachable, choose_directory_server, choose_route
from tollgate.payments.merchants import Creditor, ThreeDsTerms
from tollgate.payments.order import TestMode
from tollgate.values import Refusal
from unit.app_fixture import CHANNEL, ScriptedWire, open_app

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("is_live", "mode", "code"),
    [
        (False, TestMode.INTERNAL, "000.100.110"),
        (False, TestMode.EXTERNAL, "000.100.112"),
        (True, None, "000.000.000"),
    ],
)
async def test_success_has_the_code_of_its_mode(
    tmp_path: Path, is_live: bool, mode: TestMode | None, code: str
) -> None:
    wire = ScriptedWire()
    app = await open_app(tmp_path, wire, is_live=is_live)
    channel = replace(CHANNEL, test_url="http://test.example", live_url="http://live.example")

    route = choose_route(app, channel, mode, "VISA")

    assert (route.wire, route.approved_code) == (wire, code)
    await app.database.close()


async def test_a_live_channel_without_an_address_is_not_set_up(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire(), is_live=True)

    with pytest.raises(Refusal) as refused:
        choose_route(app, CHANNEL, None, "VISA")

    assert refused.value.result.code == "600.200.700"
    await app.database.close()


@pytest.mark.parametrize("brand", ["VISA", "PAYPAL", "APPLEPAY"])
async def test_the_simulator_stands_in_for_a_test_system_that_is_not_configured(tmp_path: Path, brand: str) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    configured = ScriptedWire()
    app = replace(app, find_wire=lambda _address, _account=None: configured)

    route = choose_route(app, CHANNEL, TestMode.EXTERNAL, brand)
    other = choose_route(app, replace(CHANNEL, test_url="https://test.example"), TestMode.EXTERNAL, brand)

    assert (route.wire, route.approved_code) == (app.simulator, "000.100.112")
    assert (other.wire, other.approved_code) == (configured, "000.100.112")
    await app.database.close()


async def test_a_checkout_needs_somebody_who_can_be_asked(tmp_path: Path) -> None:
    """Any protocol will do where no brand is given; direct debits need a creditor and no address."""
    app = await open_app(tmp_path, ScriptedWire(), is_live=True)
    creditor = Creditor(name="Shop", iban="DE89370400440532013000", bic="COBADEFFXXX", identifier="DE98ZZZ09999999999")
    debits = replace(CHANNEL, creditor=creditor)

    check_reachable(app, replace(CHANNEL, live_url="https://live.example"), None, "VISA")
    check_reachable(app, replace(CHANNEL, live_url="https://live.example"), None, None)
    check_reachable(app, debits, None, None)
    check_reachable(app, debits, None, "DIRECTDEBIT_SEPA")
    for channel, brand in ((CHANNEL, None), (CHANNEL, "VISA"), (debits, "VISA")):
        with pytest.raises(Refusal) as refused:
            check_reachable(app, channel, None, brand)
        assert refused.value.result.code == "600.200.700"
    await app.database.close()


@pytest.mark.parametrize(("is_live", "mode"), [(False, None), (True, TestMode.INTERNAL), (True, TestMode.EXTERNAL)])
async def test_no_payment_is_followed_in_the_other_environment(
    tmp_path: Path, is_live: bool, mode: TestMode | None
) -> None:
    app = await open_app(tmp_path, ScriptedWire(), is_live=is_live)
    channel = replace(CHANNEL, test_url="http://test.example", live_url="http://live.example")

    with pytest.raises(Refusal) as refused:
        choose_route(app, channel, mode, "VISA")

    assert refused.value.result.code == "600.200.700"
    await app.database.close()


# ---- the way to a directory server ----

TERMS = ThreeDsTerms(test_url="https://test.ds.example", live_url="https://live.ds.example", requestor_id="R-1")


@pytest.mark.parametrize(
    ("is_live", "mode", "address"),
    [
        (False, TestMode.INTERNAL, "simulator"),
        (False, TestMode.EXTERNAL, "https://test.ds.example"),
        (True, None, "https://live.ds.example"),
    ],
)
async def test_each_mode_has_its_own_directory_server(
    tmp_path: Path, is_live: bool, mode: TestMode | None, address: str
) -> None:
    wire = ScriptedWire()
    app = await open_app(tmp_path, wire, is_live=is_live)

    directory = choose_directory_server(app, replace(CHANNEL, three_ds=TERMS), mode)

    assert directory is not None
    assert (directory.address, directory.wire, directory.terms) == (address, wire, TERMS)
    await app.database.close()


@pytest.mark.parametrize("terms", [None, ThreeDsTerms(requestor_id="R-1")])
@pytest.mark.parametrize(("is_live", "mode"), [(False, TestMode.EXTERNAL), (True, None), (True, TestMode.INTERNAL)])
async def test_without_an_address_nobody_can_be_authenticated(
    tmp_path: Path, is_live: bool, mode: TestMode | None, terms: ThreeDsTerms | None
) -> None:
    """A proof of the simulated directory server would mean nothing to an acquirer's own test system."""
    app = await open_app(tmp_path, ScriptedWire(), is_live=is_live)
    channel = replace(CHANNEL, three_ds=terms, test_url="https://test.example")

    assert choose_directory_server(app, channel, mode) is None
    await app.database.close()


@pytest.mark.parametrize("mode", list(TestMode))
async def test_the_simulated_directory_needs_no_terms(tmp_path: Path, mode: TestMode) -> None:
    app = await open_app(tmp_path, ScriptedWire())

    directory = choose_directory_server(app, CHANNEL, mode)

    assert directory is not None
    assert directory.terms == ThreeDsTerms()
    await app.database.close()
