"""An addition touches few files: a copy of the program gets one of each kind, and a server shows that it works.

The table "How things are added" in ARCHITECTURE.md states the number of files; migrations and uses are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.changed_program import COLUMN_OF_PAYMENTS, ChangedGateway, Edit, Revision, change_program
from gateway import Client, GatewayProcess
from tollgate.store.migrating import Kind

TABLE = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"

REVISION = Revision(
    Kind.EXPAND,
    (
        "ALTER TABLE channels ADD COLUMN keeps_holidays INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE payments ADD COLUMN holiday TEXT NOT NULL DEFAULT 'Easter'",
    ),
)


@dataclass(frozen=True)
class Changed:
    gateway: ChangedGateway
    client: Client
    old_id: str
    """A payment that was made before anything was added."""


@dataclass(frozen=True)
class Addition:
    edits: tuple[Edit, ...]
    check: Callable[[Changed], None]


def check_parameter(changed: Changed) -> None:
    client = changed.client
    assert client.pay(merchant__openingYear="1887").code == "000.100.110"
    assert client.pay(merchant__openingYear="187").faults == {"merchant.openingYear": "must have 4 to 4 characters"}


def check_brand(changed: Changed) -> None:
    client = changed.client
    paid = client.pay(paymentBrand="VISTA", card__number="6900000000000008")
    assert (paid.code, paid.json["paymentBrand"]) == ("000.100.110", "VISTA")
    assert client.pay(paymentBrand="VISTA", card__number="4200000000000000").status == 400


def check_result_code(changed: Changed) -> None:
    refused = changed.client.pay(**{"customParameters[forceResultCode]": "800.100.991"})
    assert (refused.status, refused.code) == (400, "800.100.991")
    assert refused.json["result"]["description"] == "transaction declined (closed on holidays)"


def check_payment_type(changed: Changed) -> None:
    client = changed.client
    paid = client.pay(paymentType="DX")
    assert (paid.code, paid.json["paymentType"]) == ("000.100.110", "DX")
    assert client.get(f"/v1/query/{paid.json['id']}").json["paymentType"] == "DX"


def check_endpoint(changed: Changed) -> None:
    assert changed.client.send("GET", "/v1/holidays").json == {"holidays": []}


def check_setting(changed: Changed) -> None:
    assert "--holidays-max" in changed.gateway.run("serve", "--help").stdout
    refused = changed.gateway.run("serve", "--holidays-max", "366").stderr
    assert "--holidays-max (or TOLLGATE_HOLIDAYS_MAX) must be a whole number from 0 to 365" in refused


def check_channel_flag(changed: Changed) -> None:
    gateway, entity_id = changed.gateway, changed.client.entity_id
    gateway.run("channel", "set", entity_id, "--keep-holidays")
    gateway.run("channel", "set", entity_id, "--require-cvv")
    assert gateway.query("SELECT keeps_holidays FROM channels WHERE id = ?", entity_id) == 1


def check_column(changed: Changed) -> None:
    assert changed.client.get(f"/v1/query/{changed.old_id}").status == 200, "its signature did not survive the upgrade"
    paid = changed.client.pay().json
    assert changed.gateway.query("SELECT holiday FROM payments WHERE id = ?", paid["id"]) == "Easter"
    assert changed.client.get(f"/v1/query/{paid['id']}").status == 200
    changed.gateway.query("UPDATE payments SET holiday = 'Sunday' WHERE id = ?", paid["id"])
    assert changed.client.get(f"/v1/query/{paid['id']}").status == 500, "its signature does not cover the column"


ADDITIONS = {
    "parameter": Addition(
        (Edit("catalog/parameters/merchant.py", 'plain("mcc"', 'Parameter("openingYear", text(4, 4)),\n        '),),
        check_parameter,
    ),
    "brand": Addition(
        (Edit("catalog/brand_rows.py", '    _card("VISA"', '    _card("VISTA", "Vista", "69"),\n'),),
        check_brand,
    ),
    "result code": Addition(
        (
            Edit(
                "catalog/result_rows/declined.py",
                '    Row("800.100.100"',
                '    Row("800.100.991", "transaction declined (closed on holidays)"),\n',
            ),
        ),
        check_result_code,
    ),
    "payment type that starts a chain": Addition(
        (
            Edit(
                "catalog/payment_types.py",
                '    PaymentType("RG"',
                '    PaymentType("DX", "express debit", Role.STARTS, Direction.TAKE, methods=_CARDS),\n',
            ),
        ),
        check_payment_type,
    ),
    "endpoint": Addition(
        (
            Edit(
                "web/api/host.py",
                '@ROUTES.add("GET", "/healthz"',
                '@ROUTES.add("GET", "/v1/holidays", "list_holidays", Access.OPEN)\n'
                "async def list_holidays(_request: Request, _app: App) -> Reply:\n"
                '    return Reply(200, orjson.dumps({"holidays": []}))\n\n\n',
            ),
            Edit(
                "catalog/throttles.py",
                "    Throttle(WRONG_TOKEN",
                '    Throttle("list_holidays", "address", 60, 60),\n',
            ),
        ),
        check_endpoint,
    ),
    "setting": Addition(
        (
            Edit(
                "config.py",
                "    workers: Annotated",
                '    holidays_max: Annotated[int, Setting("Days without payments.", _whole(0, 365))] = 0\n',
            ),
        ),
        check_setting,
    ),
    "flag of a channel": Addition(
        (
            Edit(
                "payments/merchants.py",
                "    is_closed: Annotated",
                "    keeps_holidays: Annotated[\n"
                '        bool, ChannelFlag("--keep-holidays/--work-on-holidays", "Refuse on holidays.", Form.SWITCH)\n'
                "    ] = False\n",
            ),
            Edit(
                "store/schema.py",
                '    sa.Column("is_closed"',
                '    sa.Column("keeps_holidays", SMALL, nullable=False),\n',
            ),
        ),
        check_channel_flag,
    ),
    "column of payments": Addition(
        COLUMN_OF_PAYMENTS,
        check_column,
    ),
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Changed]:
    """A copy of the program to which everything was added at once, with a server on a store of the program as it is."""
    folder = tmp_path_factory.mktemp("additions")
    edits = (edit for addition in ADDITIONS.values() for edit in addition.edits)
    variables = change_program(folder, edits, [REVISION])
    with GatewayProcess(folder / "data") as gateway:
        old_id = gateway.client().pay().json["id"]
    with ChangedGateway(folder / "data", environment=variables, is_cold=True) as gateway:
        yield Changed(gateway, gateway.client(), old_id)


@pytest.mark.parametrize("name", ADDITIONS)
def test_what_is_added_works(name: str, changed: Changed) -> None:
    ADDITIONS[name].check(changed)


def test_as_few_files_are_changed_as_the_architecture_says() -> None:
    table = TABLE.read_text("utf-8").partition("## How things are added")[2].partition("\n## ")[0]
    stated = {name: int(count) for name, count in re.findall(r"^\| ([^|]+) \| ([0-9]+) \|", table, re.MULTILINE)}
    measured = {name: len({edit.path for edit in addition.edits}) for name, addition in ADDITIONS.items()}
    assert measured.items() <= stated.items()
