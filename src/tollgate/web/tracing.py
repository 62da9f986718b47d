"""Traces for OpenTelemetry: a span for each request, each message to an acquirer, each write and each delivery.

It is imported only where traces are asked for. A span has no personal data, amount or card, and of a merchant's address
the host alone.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from opentelemetry import context as contexts
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tollgate.connectors.exchange import Conversation, Exchange, WireReply, WireRequest
from tollgate.operations.app import App
from tollgate.operations.journal import Subject
from tollgate.payments.payment import Verdict
from tollgate.store.database import Database
from tollgate.store.hot import Answer, HotWrite, Row
from tollgate.store.statements import Write
from tollgate.values import hide_checkout_ids
from tollgate.web.request import Reply, RequestContext
from tollgate.web.server import Gateway
from tollgate.wire import Notifier, Outgoing, Received, Silent, Unsent, Wire

_Told = TypeVar("_Told")

_TRACE_PATH = "/v1/traces"
_SHUTDOWN_S = 3.0
_ERROR_STATUS = 500
_PROPAGATOR = TraceContextTextMapPropagator()


def make_provider(address: str, build: str, environment: str) -> TracerProvider:
    """Returns the provider of tracers; spans go to the address, or where the variables of OpenTelemetry say.

    Spans wait in a queue of limited length for a thread that sends them. What does not fit is dropped.
    """
    endpoint = address.rstrip("/") + _TRACE_PATH if address else None
    exporter: SpanExporter = OTLPSpanExporter(endpoint=endpoint)
    resource = Resource.create({"service.version": build, "deployment.environment.name": environment})
    # A name in the variables of OpenTelemetry wins.
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "tollgate"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


class Traces:
    """Makes what a host consists of report its spans."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("tollgate")

    def trace_app(self, app: App) -> App:
        members = {name: getattr(app, name) for name in App.__struct_fields__}
        members |= {
            "database": TracedDatabase(app.database, self._tracer),
            "notifier": TracedNotifier(app.notifier, self._tracer),
        }
        return TracedApp(**members, tracer=self._tracer)

    def make_gateway(self, *parts: Any, **options: Any) -> Gateway:
        return TracedGateway(self._tracer, *parts, **options)

    async def close(self) -> None:
        """Sends what waits; a collector that does not answer holds the end of the host up for some seconds only."""
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        ends_at = time.monotonic() + _SHUTDOWN_S
        while sending.is_alive() and time.monotonic() < ends_at:
            await asyncio.sleep(0.02)


class TracedGateway(Gateway):
    def __init__(self, tracer: Tracer, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._tracer = tracer

    async def answer(self, context: RequestContext, body: bytes) -> Reply:
        is_for_probes = context.match is not None and context.match.row.is_for_probes
        if is_for_probes or context.refused is not None:
            return await super().answer(context, body)
        span = self._start(context)
        token = contexts.attach(set_span_in_context(span))
        try:
            reply = await super().answer(context, body)
            _conclude(span, context, reply.status)
            return reply
        finally:
            contexts.detach(token)
            span.end()

    def conclude(self, context: RequestContext, reply: Reply | None) -> None:
        super().conclude(context, reply)
        # Its head alone decided, and `answer` may not have been called.
        if reply is not None and context.refused is not None:
            span = self._start(context)
            _conclude(span, context, reply.status)
            span.end()

    def _start(self, context: RequestContext) -> Span:
        headers = context.head.headers if context.head is not None else {}
        # The caller's trace is continued; its further state is for others.
        given = headers.get(b"traceparent", b"").decode("ascii", "replace")
        parent = _PROPAGATOR.extract({"traceparent": given}, contexts.Context()) if given else contexts.Context()
        return self._tracer.start_span(
            context.operation or "request",
            context=parent,
            kind=SpanKind.SERVER,
            start_time=time.time_ns() - int((time.perf_counter() - context.began) * 1e9),
        )


def _conclude(span: Span, context: RequestContext, status: int) -> None:
    span.update_name(context.operation)
    span.set_attributes({"http.request.method": context.method, "http.response.status_code": status})
    span.set_attribute("tollgate.ndc", hide_checkout_ids(context.ndc))
    if status >= _ERROR_STATUS:
        span.set_status(Status(StatusCode.ERROR))


class TracedApp(App, kw_only=True, frozen=True):
    tracer: Tracer

    def dispatch(
        self, exchange: Exchange, wire: Wire, *, about: Subject, label: str, spent_s: float = 0.0
    ) -> Awaitable[Verdict]:
        traced = TracedWire(wire, self.tracer, label)
        return super().dispatch(exchange, traced, about=about, label=label, spent_s=spent_s)

    def converse(
        self,
        conversation: Conversation[_Told],
        wire: Wire,
        *,
        about: Subject,
        label: str,
        timeout_s: float | None = None,
    ) -> Awaitable[_Told | None]:
        traced = TracedWire(wire, self.tracer, label)
        return super().converse(conversation, traced, about=about, label=label, timeout_s=timeout_s)


@contextlib.contextmanager
def _trace_call(tracer: Tracer, name: str, attributes: Mapping[str, str]) -> Iterator[Span]:
    """Runs a call to another party in a span; the exception's own text is not kept, because it may quote an answer."""
    with tracer.start_as_current_span(
        name, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except (Unsent, Silent) as fault:
            span.set_status(Status(StatusCode.ERROR, "not sent" if isinstance(fault, Unsent) else "no answer"))
            raise


class TracedWire:
    """A wire to an acquirer. The trace is not passed on: what others see must not connect their requests with ours."""

    def __init__(self, wire: Wire, tracer: Tracer, label: str) -> None:
        self._wire = wire
        self._tracer = tracer
        self._label = label

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        with _trace_call(self._tracer, self._label, {}) as span:
            reply = await self._wire.send(request, timeout_s)
            span.set_attribute("http.response.status_code", reply.status)
            return reply


class TracedNotifier:
    """Sends to addresses that merchants gave; only the host of an address is shown, and the trace is not passed on."""

    def __init__(self, notifier: Notifier, tracer: Tracer) -> None:
        self._notifier = notifier
        self._tracer = tracer

    def check_address(self, url: str) -> str | None:
        return self._notifier.check_address(url)

    async def send(self, outgoing: Outgoing, timeout_s: float) -> Received:
        host = urlsplit(outgoing.url).hostname or ""
        with _trace_call(self._tracer, "delivery request", {"server.address": host}) as span:
            received = await self._notifier.send(outgoing, timeout_s)
            span.set_attribute("http.response.status_code", received.status)
            return received


class TracedDatabase:
    """Reports the writes of a request or a message. What workers do by themselves would fill the collector."""

    def __init__(self, database: Database, tracer: Tracer) -> None:
        self._database = database
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, writes: Sequence[Write], *, label: str) -> bool:
        if not get_current_span().is_recording():
            return await self._database.write(writes, label=label)
        with self._tracer.start_as_current_span(
            label, attributes=_WRITE, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                return await self._database.write(writes, label=label)
            except BaseException:
                # What an exception of a database says may quote the row.
                span.set_status(_NOT_WRITTEN)
                raise

    def submit(self, hot: HotWrite[Answer], row: Row, *, label: str) -> Awaitable[Answer]:
        writing = self._database.submit(hot, row, label=label)
        if get_current_span().is_recording():
            span = self._tracer.start_span(label, attributes=_WRITE)
            asyncio.ensure_future(writing).add_done_callback(lambda done: _end_write(span, done))
        return writing


_WRITE = {"db.operation.name": "write"}
_NOT_WRITTEN = Status(StatusCode.ERROR, "not written")


def _end_write(span: Span, writing: asyncio.Future[Any]) -> None:
    if writing.cancelled() or writing.exception() is not None:
        span.set_status(_NOT_WRITTEN)
    span.end()
