"""Chooses the parts of a host that report traces, where traces are asked for. What they report is not decided here."""

from typing import Any, Protocol

from tollgate.config import Settings, wants_traces
from tollgate.operations.app import App
from tollgate.web.server import Gateway


class Instruments(Protocol):
    def trace_app(self, app: App) -> App: ...

    def make_gateway(self, *parts: Any, **options: Any) -> Gateway: ...

    async def close(self) -> None: ...


def open_instruments(settings: Settings, app: App) -> Instruments | None:
    """Loads OpenTelemetry where it is asked for; elsewhere nothing of it exists, and nothing asks for it again."""
    if not wants_traces(settings):
        return None
    from tollgate.web import tracing

    return tracing.Traces(tracing.make_provider(settings.traces, app.envelope.build_number, settings.environment))
