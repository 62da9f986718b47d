"""A write that fails is shown in a trace without what its error says. What a payment shows is tested with the API."""

from __future__ import annotations

from typing import cast

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tollgate.store.database import Database
from tollgate.web.tracing import TracedDatabase


class FailingDatabase:
    async def write(self, *_args: object, **_named: object) -> bool:
        raise RuntimeError("Failing row contains (Jane Jones, 92.00)")


@pytest.mark.anyio
async def test_a_failed_write_is_an_error_that_quotes_no_row() -> None:
    """PostgreSQL and SQLAlchemy put values into the texts of their errors."""
    spans = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    tracer = provider.get_tracer("test")
    database = TracedDatabase(cast(Database, FailingDatabase()), tracer)

    with tracer.start_as_current_span("request"), pytest.raises(RuntimeError, match="Failing row"):
        await database.write([], label="a write")

    (span,) = (each for each in spans.get_finished_spans() if each.name == "a write")
    assert (span.status.status_code, len(span.events)) == (StatusCode.ERROR, 0)
    assert "Jane" not in span.to_json()
