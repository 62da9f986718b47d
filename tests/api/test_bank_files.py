"""A debit travels from HTTP to the bank's file and back: days pass, the operator exports and imports, money returns."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
import xmlschema
from click.testing import CliRunner

from api.chains import follow, result_of, reverse, stay_within_a_day
from api.direct_debits import IBAN, begin_debit
from api.merchants import run_command, wait_until
from api.traces import collect, spell_number
from gateway import Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.cli.program import program

pytestmark = pytest.mark.both_databases

HOLDER = "Jane Sweeper"
OTHER_IBAN = "AT483200000012345864"


@dataclass
class BankHost:
    """A server whose days belong to these tests alone."""

    gateway: GatewayProcess
    client: Client
    folders: list[Path]
    flush: Callable[[], object]

    def pass_days(self, days: int) -> None:
        answer = self.client.post("/sandbox/clock", {"advance": str(days * 86400), "entityId": None})
        assert answer.status == 200, answer.body

    def list_files(self) -> list[list[str]]:
        return [line.split() for line in run_command(self.gateway, "bank", "files").splitlines()]

    def export(self, file_id: str) -> Tree.Element:
        return Tree.fromstring(run_command(self.gateway, "bank", "export", file_id))

    def take_in(self, path: Path) -> tuple[int, str]:
        store = [
            "--data",
            str(self.gateway.data),
            *(["--database", self.gateway.database] if self.gateway.database else []),
        ]
        done = CliRunner().invoke(program, ["bank", "import", str(path), *store], catch_exceptions=False)
        return done.exit_code, done.output


@dataclass
class Filed:
    """Payments of one day, and the files that were made of them."""

    host: BankHost
    ids: dict[str, str]
    documents: dict[str, Tree.Element]
    """The documents by the id of their file."""

    @property
    def client(self) -> Client:
        return self.host.client

    def find(self, name: str) -> str:
        """Returns the file that has a payment; empty where none has."""
        return next((each for each, document in self.documents.items() if self.ids[name] in list_entries(document)), "")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BankHost]:
    folder = tmp_path_factory.mktemp("bank")
    if request.param == "sqlite":
        with GatewayProcess(folder) as gateway:
            yield BankHost(gateway, gateway.client(), [folder], lambda: None)
        return
    # A cluster of its own: everything in it is searched to the last byte.
    with (
        PostgresCluster() as cluster,
        GatewayProcess(folder, cluster.create_database()) as gateway,
    ):
        yield BankHost(gateway, gateway.client(), [folder, cluster.folder], lambda: cluster.run_sql("CHECKPOINT"))


def list_entries(document: Tree.Element) -> list[str]:
    return [element.text or "" for element in document.iterfind(".//{*}EndToEndId")]


def validate(document: Tree.Element, schema: str) -> None:
    with as_file(files("sepaxml") / "schemas" / schema) as path:
        xmlschema.XMLSchema(path).validate(document)


@pytest.fixture(scope="module")
def filed(host: BankHost) -> Filed:
    client = host.client
    stay_within_a_day(client)
    ids = {name: begin_debit(client) for name in ("late", "gone", "returned", "strange")}
    ids["paid"] = begin_debit(client, amount="12.34", bankAccount__holder="Zoë Müller")
    ids["credited"] = begin_debit(client, "CD", amount="5.00")
    ids["refunded"] = follow(client, ids["paid"], "RF", "2.34").json["id"]
    ids["austrian"] = begin_debit(
        client, bankAccount__iban=OTHER_IBAN, bankAccount__bic="RLNWATWWXXX", bankAccount__holder=HOLDER
    )
    assert reverse(client, ids["gone"]).code == "000.100.110"
    host.pass_days(5)
    wait_until(lambda: len(host.list_files()) == 2)
    return Filed(host, ids, {line[0]: host.export(line[0]) for line in host.list_files()})


def test_debits_end_in_a_valid_file(filed: Filed) -> None:
    document = filed.documents[filed.find("paid")]

    validate(document, "pain.008.001.08.xsd")
    assert set(list_entries(document)) == {
        filed.ids[name] for name in ("late", "returned", "strange", "paid", "austrian")
    }
    own = next(each for each in document.iterfind(".//{*}DrctDbtTxInf") if filed.ids["paid"] in list_entries(each))
    assert own.findtext("{*}DbtrAcct/{*}Id/{*}IBAN") == IBAN
    assert own.findtext("{*}Dbtr/{*}Nm") == "Zoe Mueller"
    assert own.findtext(".//{*}MndtId") == "M-ONE"
    assert own.findtext("{*}InstdAmt") == "12.34"


def test_credits_and_refunds_end_in_a_valid_file_of_their_own(filed: Filed) -> None:
    document = filed.documents[filed.find("credited")]

    validate(document, "pain.001.001.09.xsd")
    assert set(list_entries(document)) == {filed.ids["credited"], filed.ids["refunded"]}


def test_a_reversed_debit_is_in_no_file(filed: Filed) -> None:
    assert filed.find("gone") == ""


def test_what_a_file_has_cannot_be_reversed_any_more(filed: Filed) -> None:
    assert result_of(reverse(filed.client, filed.ids["late"])) == (400, "700.300.700")
    assert result_of(follow(filed.client, filed.ids["late"], "RF", "92.00")) == (200, "000.100.110")


def test_a_return_becomes_a_chargeback_once(filed: Filed, tmp_path: Path) -> None:
    returned = filed.ids["returned"]
    path = tmp_path / "camt.054.xml"
    path.write_text(run_command(filed.host.gateway, "bank", "sample-return", returned, "--reason", "AM04"))

    first, second = filed.host.take_in(path), filed.host.take_in(path)

    assert (first[0], first[1].splitlines()[-1]) == (0, "1 taken, 0 known already, 0 unknown")
    assert (second[0], second[1].splitlines()[-1]) == (0, "0 taken, 1 known already, 0 unknown")
    shown = filed.client.get(f"/v1/query/{returned}", {"includeLinkedTransactions": "true"}).json["payments"]
    assert [(each["paymentType"], each["result"]["code"]) for each in shown] == [
        ("DB", "000.100.110"),
        ("CB", "000.100.203"),
    ]
    assert result_of(follow(filed.client, returned, "RF", "10.00")) == (400, "700.300.600")


def test_a_return_without_a_payment_is_reported_to_scripts(filed: Filed, tmp_path: Path) -> None:
    path, nonsense = tmp_path / "camt.054.xml", tmp_path / "nonsense.xml"
    sample = run_command(filed.host.gateway, "bank", "sample-return", filed.ids["strange"])
    path.write_text(sample.replace(filed.ids["strange"], "8a" + "9" * 30))
    nonsense.write_text("<html/>")

    unknown, unread = filed.host.take_in(path), filed.host.take_in(nonsense)

    assert unknown[0] == 1
    assert "no instruction has this reference" in unknown[1]
    assert unread[0] == 2
    assert "<html> is no ISO 20022 document" in unread[1]


def test_an_export_is_the_owners_alone_and_is_remembered(filed: Filed, tmp_path: Path) -> None:
    file_id, target = filed.find("paid"), tmp_path / "debits.xml"

    run_command(filed.host.gateway, "bank", "export", file_id, "--output", str(target))

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list_entries(Tree.fromstring(target.read_bytes())) == list_entries(filed.documents[file_id])
    line = next(line for line in filed.host.list_files() if line[0] == file_id)
    assert "exported" in line


def test_no_iban_is_left_in_the_store_or_the_log(filed: Filed) -> None:
    filed.host.flush()

    traces = collect(filed.host.folders, without="tollgate-keys.json")

    for iban in (IBAN, OTHER_IBAN):
        assert traces.find(iban.encode()) == []
        assert [found for spelling in spell_number(iban[4:]) for found in traces.find(spelling)] == []
    assert traces.count(filed.ids["paid"].encode()) > 0, "the traces are those of the store"
