"""The settings of PostgreSQL by which an acknowledged payment may be lost, as rows.

The driver reads them.
"""

from collections.abc import Mapping, Sequence

READ_SETTINGS = """
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')
"""
READ_STANDBYS = "SELECT sync_state FROM pg_stat_replication"
"""A role that may not see the state gets NULL for it."""

_LOSING: Mapping[str, tuple[frozenset[str], str]] = {
    "fsync": (frozenset({"off"}), "a crash of its machine may lose or destroy the whole database"),
    "full_page_writes": (frozenset({"off"}), "a crash of its machine may leave torn pages"),
    "synchronous_commit": (
        frozenset({"off", "local"}),
        "an acknowledged payment is not on the standby yet, or not even on the disk",
    ),
}
"""The values of each setting that lose payments, and how."""

NO_STANDBY = (
    "PostgreSQL has no synchronous standby (synchronous_standby_names is empty): with the disk of its machine "
    "acknowledged payments are lost"
)
NOT_CONNECTED = (
    "the synchronous standby that PostgreSQL is to wait for (synchronous_standby_names) is not connected: nothing can "
    "be committed until it is"
)
NOT_VISIBLE = "the role of --database may not see whether a synchronous standby is connected: GRANT pg_monitor to it"
_SYNCHRONOUS = frozenset({"sync", "quorum"})


def list_risks(values: Mapping[str, str], states: Sequence[str | None]) -> list[str]:
    """Lists what an operator should change.

    states: `sync_state` of each standby that is connected.
    """
    risks = [
        f"PostgreSQL has {name}={values[name]}: {loss}"
        for name, (losing, loss) in _LOSING.items()
        if values.get(name) in losing
    ]
    if not values.get("synchronous_standby_names"):
        return [*risks, NO_STANDBY]
    if _SYNCHRONOUS.intersection(states):
        return risks
    return [*risks, NOT_VISIBLE if None in states else NOT_CONNECTED]
