"""Traces reach a real collector, tell nothing about persons and money, and never disturb a payment."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.merchants import wait_until
from collecting import Collector, run_collector
from gateway import CARD, COMMAND_S, GatewayProcess
from tollgate.config import Settings, wants_traces
from tollgate.operations.app import App
from tollgate.web.server import Gateway
from tollgate.wiring import open_host, prepare_keyring

SERVER, CLIENT = 2, 3
ERROR = 2
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "100"}
LONG_S = 60


@pytest.fixture
def collector() -> Iterator[Collector]:
    with run_collector() as collector:
        yield collector


def find_spans(collector: Collector, name: str) -> list[Any]:
    return [span for span in collector.list_spans() if span.name == name]


def read_attributes(attributes: Any) -> dict[str, str]:
    return {each.key: str(each.value.string_value or each.value.int_value) for each in attributes}


def test_a_payment_is_one_trace_that_continues_its_callers(collector: Collector, tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, arguments=["--traces", collector.address], environment=SOON) as gateway:
        client = gateway.client()
        added = client.post("/v1/webhooks", {"url": f"{client.base_url}/sandbox/inbox/secret-inbox"}).json["id"]
        assert client.post(f"/v1/webhooks/{added}/test", {}).json["state"] == "active"
        paid = client.pay({"traceparent": f"00-{TRACE}-{PARENT}-01"}, merchantTransactionId="order-of-jane")
        assert paid.code == "000.100.110", paid.json
        wait_until(lambda: bool(find_spans(collector, "create_payment")))
        wait_until(lambda: len(find_spans(collector, "delivery request")) == 2)
        assert gateway.stop() == 0

    (request,) = find_spans(collector, "create_payment")
    assert (request.kind, request.trace_id.hex(), request.parent_span_id.hex()) == (SERVER, TRACE, PARENT)
    shown = read_attributes(request.attributes)
    assert (shown["http.request.method"], shown["http.response.status_code"]) == ("POST", "200")
    assert shown["tollgate.ndc"] == paid.json["ndc"]

    inner = [span for span in collector.list_spans() if span.parent_span_id == request.span_id]
    assert {span.trace_id.hex() for span in inner} == {TRACE}
    assert [span.kind for span in inner if span.name == "charge request"] == [CLIENT]
    writes = [span for span in inner if "db.operation.name" in read_attributes(span.attributes)]
    assert len(writes) >= 2
    for span in inner:
        assert request.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= request.end_time_unix_nano

    for delivery in find_spans(collector, "delivery request"):
        assert delivery.kind == CLIENT
        assert delivery.trace_id.hex() != TRACE
        assert read_attributes(delivery.attributes)["server.address"] == "127.0.0.1"
    check_that_nothing_is_told(collector, [client.token, paid.json["id"], "jane", "secret-inbox"])


def check_that_nothing_is_told(collector: Collector, secrets: list[str]) -> None:
    sent = b"\n".join(collector.bodies).lower()
    values = [*secrets, "92.00", "9200", CARD["card.number"], CARD["card.holder"], CARD["card.number"][:6]]
    assert [value for value in values if value.lower().encode() in sent] == []
    (resource,) = {str(read_attributes(each.resource.attributes)) for export in collector.list_exports()
                   for each in export.resource_spans}  # fmt: skip
    assert "'service.name': 'tollgate'" in resource


def test_a_refusal_has_a_span_and_a_probe_has_none(collector: Collector, tmp_path: Path) -> None:
    variables = {**SOON, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_SERVICE_NAME": "shop-gateway"}
    with GatewayProcess(tmp_path, environment=variables) as gateway:
        client = gateway.client()
        assert client.pay(amount="x").status == 400
        unknown = {"Authorization": "Bearer bm9ib2R5", "traceparent": "00-zz-zz-01"}
        assert client.send("POST", "/v1/payments", "entityId=1", unknown).status == 403
        wait_until(lambda: len(find_spans(collector, "create_payment")) == 2)
        gateway.stop()

    spans = find_spans(collector, "create_payment")
    statuses = {read_attributes(span.attributes)["http.response.status_code"] for span in spans}
    assert statuses == {"400", "403"}
    assert [span for span in spans if span.parent_span_id or span.status.code == ERROR] == []
    assert [span for span in collector.list_spans() if span.name in ("readyz", "healthz")] == []
    (resource,) = {read_attributes(each.resource.attributes)["service.name"] for export in collector.list_exports()
                   for each in export.resource_spans}  # fmt: skip
    assert resource == "shop-gateway"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_collector_that_hangs_or_is_gone_disturbs_no_payment(
    collector: Collector, tmp_path: Path, is_there: bool
) -> None:
    collector.hangs.set()
    address = collector.address if is_there else "http://127.0.0.1:9"
    variables = {**SOON, "OTEL_BSP_MAX_QUEUE_SIZE": "64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "16"}
    with GatewayProcess(tmp_path, arguments=["--traces", address], environment=variables) as gateway:
        client = gateway.client()
        assert {client.pay().code for _ in range(60)} == {"000.100.110"}
        assert not is_there or collector.bodies
        began = time.monotonic()
        assert gateway.stop() == 0
        assert time.monotonic() - began < LONG_S


def test_traces_without_the_extra_are_refused_by_its_name(tmp_path: Path) -> None:
    program = "import sys; sys.modules['opentelemetry'] = None; from tollgate.cli import main; main()"
    command = [sys.executable, "-c", program, "check", "--data", str(tmp_path), "--traces", "http://127.0.0.1:4318"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_S)

    assert ran.returncode == 1
    assert "--traces" in ran.stdout
    assert "tollgate-payments[traces]" in ran.stdout


def test_the_variables_of_opentelemetry_turn_traces_on_and_off() -> None:
    on = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}
    assert not wants_traces(Settings(), {})
    assert wants_traces(Settings(), on)
    assert wants_traces(Settings(traces="http://127.0.0.1:4318"), {})
    assert not wants_traces(Settings(), {**on, "OTEL_SDK_DISABLED": "true"})
    assert not wants_traces(Settings(traces="http://127.0.0.1:4318"), {"OTEL_TRACES_EXPORTER": "none"})


@pytest.mark.anyio
async def test_without_traces_a_host_consists_of_the_same_parts_as_ever(tmp_path: Path) -> None:
    """So requests, messages and writes run no code for traces at all."""
    settings = Settings(data=str(tmp_path))
    from tollgate.store.opening import open_database

    store = await open_database(settings.database_url)
    await prepare_keyring(settings, store)
    await store.close()
    host = await open_host(settings, exclusive=True)
    try:
        assert (type(host.gateway), type(host.app), host.traces) == (Gateway, App, None)
        parts = [host.app.database, host.app.notifier, host.app.simulator, host.gateway]
        assert [part for part in parts if type(part).__module__ == "tollgate.web.tracing"] == []
    finally:
        await host.close()


def test_without_traces_nothing_of_opentelemetry_is_loaded() -> None:
    program = (
        "import sys, tollgate.hosting.server; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=COMMAND_S)

    assert ran.stdout.strip() == "[]", ran.stderr
