"""The page of the simulator in the back office: planned outcomes, the test clock and snapshots of the whole sandbox.

What a planned outcome does is decided by the simulated partners, and what a snapshot has in `flows` and `store`.
"""

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

import msgspec

from tollgate.catalog import audit_actions, limits, payment_types, permissions, results, test_cards
from tollgate.connectors import acquiring
from tollgate.flows import evidence, sign_in, snapshots
from tollgate.office import uploads, visits
from tollgate.payments import order, payment
from tollgate.sandbox.controls import ADVANCE_S_MAX, UNITS, move_clock
from tollgate.sandbox.directory_server import PLANNED_BEHAVIOUR
from tollgate.store import planned_outcomes
from tollgate.values import ChannelId, Instant, make_id, make_timed_id
from tollgate.web.request import Reply
from tollgate.workers import follow_clock

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/simulator"
_SNAPSHOT = f"{_PATH}/snapshots/{{name}}"
_UPLOAD = f"{_PATH}/snapshot-file"

_DELAY_S_MAX = 30
_COUNT_MAX = 1_000
_OVERRIDES = {order.Partner.ACQUIRER: "simulator", order.Partner.DIRECTORY_SERVER: "directory"}
"""The beginning of the names of the overrides for each partner."""
_ANSWERS = {
    "": "arrives",
    "lost": "is lost: the partner acts, and nobody hears of it",
    "dropped": "never comes: the message is lost before the partner",
}
_OUTCOMES = {
    payment.Outcome.APPROVED: "Approved",
    payment.Outcome.WAITING: "Decided later",
    payment.Outcome.DECLINED: "Declined",
}
_TYPES = [
    code
    for code, row in payment_types.PAYMENT_TYPES.items()
    if row.role in (payment_types.Role.STARTS, payment_types.Role.FOLLOWS, payment_types.Role.AUTHENTICATES)
]


def _group_results() -> dict[str, list[tuple[str, str]]]:
    """Returns the result codes with their meanings, by what they do to a payment."""
    groups: dict[str, list[tuple[str, str]]] = {text: [] for text in _OUTCOMES.values()}
    for code, result in results.RESULTS.items():
        groups[_OUTCOMES[acquiring.classify(code)]].append((code, result.description))
    return groups


_RESULTS = _group_results()


@ROUTES.add("GET", _PATH, permissions.Permission.USE_SIMULATOR)
async def show_simulator(visit: visits.Visit) -> Reply:
    """Shows what is planned, the clock and the snapshots."""
    channels = {channel.id: channel for channel in visit.list_channels(permissions.Permission.USE_SIMULATOR)}
    listed = await planned_outcomes.list_outcomes(visit.app.database, visit.get_merchant().id)
    outcomes = [(each, describe(each)) for each in listed if each.channel_id in channels]
    return visit.render(
        "simulator.html",
        title="Simulator",
        channels=channels,
        outcomes=outcomes,
        results=_RESULTS,
        behaviours=[("", "as usual"), *[(each.name, each.value) for each in test_cards.Behaviour]],
        channel_options=[(channel.id, channel.name) for channel in channels.values()],
        types=[("", "all"), *[(code, f"{code} {payment_types.PAYMENT_TYPES[code].label}") for code in _TYPES]],
        answers=list(_ANSWERS.items()),
        partners=order.Partner,
        units=list(UNITS.items()),
        delay_max=_DELAY_S_MAX,
        count_max=_COUNT_MAX,
        snapshots=_list_snapshots(visit) if visit.may(permissions.Permission.MANAGE_HOST) else None,
        ticket=uploads.make_ticket(visit, uploads.SNAPSHOT_BODY)
        if sign_in.is_confirmed(visit.app, visit.session)
        else "",
        megabytes_max=limits.LIMITS.snapshot_bytes_max // 1024 // 1024,
    )


def describe(outcome: planned_outcomes.PlannedOutcome) -> list[str]:
    """Says in words what a message meets."""
    told = []
    for name, value in outcome.overrides.items():
        if name == acquiring.FORCED_CODE:
            told.append(f"{value} {results.RESULTS[value].description}")
        elif name == PLANNED_BEHAVIOUR:
            told.append(test_cards.Behaviour[value].value)
        elif name.endswith("Delay"):
            told.append(f"the answer comes {int(value) / 1000:g} s late")
        else:
            told.append(f"the answer {_ANSWERS[value]}")
    return told


@ROUTES.add("POST", f"{_PATH}/outcomes", permissions.Permission.USE_SIMULATOR)
async def plan_outcome(visit: visits.Visit) -> Reply:
    """Plans what the next messages of a channel to a partner meet."""
    channel_id, partner, payment_type = visit.find("channel"), visit.find("partner"), visit.find("type")
    if channel_id not in {channel.id for channel in visit.list_channels(permissions.Permission.USE_SIMULATOR)}:
        raise visits.refuse_field("channel", "must be a channel that you may simulate")
    if partner not in set(order.Partner):
        raise visits.refuse_field("partner", f"must be one of [{', '.join(order.Partner)}]")
    if payment_type not in ("", *_TYPES):
        raise visits.refuse_field("type", "must be a payment type")
    count = _read_number(visit.find("count"), "count", 1, _COUNT_MAX)
    overrides = _read_overrides(visit, order.Partner(partner))
    now = visit.app.clock.now()
    outcome = planned_outcomes.PlannedOutcome(
        merchant_id=visit.get_merchant().id,
        id=make_timed_id(now, make_id(visit.app.random_bytes)),
        channel_id=ChannelId(channel_id),
        partner=order.Partner(partner),
        payment_type=payment_type,
        overrides=overrides,
        planned=count,
        left=count,
        created_at=now,
        created_by=visit.user.name,
    )
    listed = await planned_outcomes.list_outcomes(visit.app.database, outcome.merchant_id)
    if sum(each.left > 0 for each in listed) >= planned_outcomes.SHOWN_MAX:
        raise visits.refuse_field("count", f"{planned_outcomes.SHOWN_MAX} outcomes are planned: cancel some first")
    told = "; ".join(describe(outcome))
    await visit.record(
        audit_actions.AuditAction.SIMULATOR_CHANGED, channel_id, partner=partner, planned=told, count=str(count)
    )
    await planned_outcomes.plan_outcome(visit.app.database, outcome)
    await visit.app.merchants.refresh(visit.app.database)
    return visit.go(f"{visit.base}/simulator", f"Planned for the next {count}: {told}.")


def _read_number(text: str, name: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(high)) or not low <= int(text) <= high:
        raise visits.refuse_field(name, f"must be a whole number from {low} to {high}")
    return int(text)


def _read_overrides(visit: visits.Visit, partner: order.Partner) -> Mapping[str, str]:
    overrides, who = {}, _OVERRIDES[partner]
    wanted, answer = visit.find("result"), visit.find("answer")
    if wanted and partner is order.Partner.ACQUIRER:
        if wanted not in results.RESULTS:
            raise visits.refuse_field("result", "must be a code of the result catalogue")
        overrides[acquiring.FORCED_CODE] = wanted
    elif wanted:
        if wanted not in test_cards.Behaviour.__members__:
            raise visits.refuse_field("result", "must be a behaviour of the directory server")
        overrides[PLANNED_BEHAVIOUR] = wanted
    delay_s = _read_number(visit.find("delay"), "delay", 0, _DELAY_S_MAX)
    if delay_s:
        overrides[f"{who}Delay"] = str(delay_s * 1000)
    if answer not in _ANSWERS:
        raise visits.refuse_field("answer", "must be one of those listed")
    if answer:
        overrides[f"{who}Fault"] = answer
    if not overrides:
        raise visits.refuse_field("result", "choose an outcome, a delay or a lost answer")
    return overrides


@ROUTES.add("POST", f"{_PATH}/outcomes/{{id}}/cancel", permissions.Permission.USE_SIMULATOR)
async def cancel_outcome(visit: visits.Visit) -> Reply:
    """Takes back what is left of a planned outcome."""
    merchant_id, database = visit.get_merchant().id, visit.app.database
    outcome = await planned_outcomes.find_planned_outcome(database, merchant_id, visit.names[0])
    if outcome is None:
        raise visits.make_not_found("planned outcome")
    visit.check(permissions.Permission.USE_SIMULATOR, outcome.channel_id)
    told = "; ".join(describe(outcome))
    await visit.record(
        audit_actions.AuditAction.SIMULATOR_CHANGED, outcome.channel_id, cancelled=told, left=str(outcome.left)
    )
    await planned_outcomes.cancel_outcome(database, merchant_id, outcome.id)
    return visit.go(f"{visit.base}/simulator", "Cancelled.")


def read_forward(count: str, unit: str) -> tuple[int, str]:
    """Reads by how much a form moves the clock."""
    if unit not in UNITS:
        raise visits.refuse_field("unit", f"must be one of [{', '.join(UNITS)}]")
    return _read_number(count, "forward", 1, ADVANCE_S_MAX // UNITS[unit]), unit


@ROUTES.add("POST", f"{_PATH}/clock", permissions.Permission.USE_SIMULATOR)
async def advance_clock(visit: visits.Visit) -> Reply:
    """Moves the time of the whole host forward."""
    count, unit = read_forward(visit.find("forward"), visit.find("unit"))
    await visit.record(audit_actions.AuditAction.CLOCK_MOVED, forward=f"{count} {unit}")
    await move_clock(visit.app, count * UNITS[unit])
    return visit.go(f"{visit.base}/simulator", f"The clock was moved forward by {count} {unit}.")


# ---- snapshots ----

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_SUFFIX = ".snapshot"
_BINARY = b"application/octet-stream"


class StoredSnapshot(msgspec.Struct, frozen=True):
    name: str
    size: int
    saved_at: Instant


def _list_snapshots(visit: visits.Visit) -> list[StoredSnapshot]:
    found = []
    for path in sorted(_get_folder(visit).glob(f"*{_SUFFIX}")):
        name, status = path.name.removesuffix(_SUFFIX), path.stat()
        if _NAME.fullmatch(name):
            found.append(StoredSnapshot(name, status.st_size, status.st_mtime_ns // 1000))
    return sorted(found, key=lambda each: each.saved_at, reverse=True)


def _get_folder(visit: visits.Visit) -> Path:
    if visit.app.data_folder is None:
        raise LookupError("the host has no data folder")
    return visit.app.data_folder / "snapshots"


def _locate(visit: visits.Visit, name: str) -> Path:
    if _NAME.fullmatch(name) is None:
        raise visits.refuse_field("name", "has 1 to 60 letters, digits, - or _, and begins with a letter or digit")
    return _get_folder(visit) / f"{name}{_SUFFIX}"


def _get_snapshot(visit: visits.Visit) -> Path:
    path = _locate(visit, visit.names[0])
    if not path.is_file():
        raise visits.make_not_found("snapshot")
    return path


@ROUTES.add("POST", f"{_PATH}/snapshots", permissions.Permission.MANAGE_HOST)
async def save_snapshot(visit: visits.Visit) -> Reply:
    """Saves the whole sandbox under a name, in the data folder of the host."""
    path = _locate(visit, visit.find("name"))
    if len(_list_snapshots(visit)) >= limits.LIMITS.snapshots_max and not path.exists():
        raise visits.refuse_field("name", f"there are {limits.LIMITS.snapshots_max} snapshots: delete one first")
    path.parent.mkdir(mode=0o700, exist_ok=True)
    await visit.record(audit_actions.AuditAction.SANDBOX_SAVED, path.name)
    rows = await snapshots.save_snapshot(visit.app, path)
    return visit.go(f"{visit.base}/simulator", f"Saved {rows} rows as {visit.find('name')}.")


@ROUTES.add("GET", _SNAPSHOT, permissions.Permission.MANAGE_HOST)
async def download_snapshot(visit: visits.Visit) -> Reply:
    """Sends the file, which is encrypted and opens with the host's key only."""
    path = _get_snapshot(visit)
    if path.stat().st_size > limits.LIMITS.snapshot_bytes_max:
        raise visits.refuse_field("name", "the file is too large for a browser: copy it from the data folder")
    await visit.record(audit_actions.AuditAction.SANDBOX_SAVED, path.name, download="yes")
    disposition = (b"content-disposition", f'attachment; filename="{path.name}"'.encode())
    return Reply(200, path.read_bytes(), _BINARY, (disposition,))


@ROUTES.add("POST", f"{_SNAPSHOT}/load", permissions.Permission.MANAGE_HOST, needs_confirmation=True)
async def load_snapshot(visit: visits.Visit) -> Reply:
    """Takes the whole sandbox back to the state of a file, for all merchants."""
    path = _get_snapshot(visit)
    await visit.record(audit_actions.AuditAction.SANDBOX_LOADED, path.name)
    rows = await snapshots.load_snapshot(visit.app, path)
    return await _lead_on(visit, f"Loaded {rows} rows of {visit.names[0]}.")


@ROUTES.add(
    "POST",
    _UPLOAD,
    permissions.Permission.MANAGE_HOST,
    needs_confirmation=True,
    takes_bytes=True,
    large_body=uploads.SNAPSHOT_BODY,
)
async def load_uploaded(visit: visits.Visit) -> Reply:
    """Takes the whole sandbox back to the state of a file that the user sent, and does not keep the file.

    The script of the page follows the address in the answer, because a redirect would be followed by the browser
    itself, and the notice be shown to nobody.
    """
    name = evidence.clean_name(unquote(visit.request.header(b"x-file-name") or "file"))
    await visit.record(audit_actions.AuditAction.SANDBOX_LOADED, name, upload="yes")
    rows = await snapshots.load_file(visit.app, BytesIO(visit.request.body))
    return msgspec.structs.replace(await _lead_on(visit, f"Loaded {rows} rows of {name}."), status=201)


async def _lead_on(visit: visits.Visit, notice: str) -> Reply:
    await visit.app.merchants.refresh(visit.app.database)
    await follow_clock(visit.app)
    is_there = visit.app.merchants.find_merchant(visit.get_merchant().id) is not None
    return visit.go(f"{visit.base}/simulator" if is_there else visits.OFFICE, notice)


@ROUTES.add("POST", f"{_SNAPSHOT}/delete", permissions.Permission.MANAGE_HOST)
async def delete_snapshot(visit: visits.Visit) -> Reply:
    """Deletes the file of a snapshot."""
    path = _get_snapshot(visit)
    await visit.record(audit_actions.AuditAction.SANDBOX_SAVED, path.name, deleted="yes")
    path.unlink(missing_ok=True)
    return visit.go(f"{visit.base}/simulator", f"Deleted {visit.names[0]}.")
