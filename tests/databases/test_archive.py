"""Months that leave the database: what goes and what stays, reading it again, and follow-ups, on both databases."""

from __future__ import annotations

import errno
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from databases.archiving import MONTH, NEXT, open_paid, open_shelf
from databases.auditing import tamper
from databases.lives import live_through_everything, open_lives
from tollgate.contract.record_lines import RecordLine
from tollgate.flows.acquirer_events import take_dispute
from tollgate.flows.pay import look_up
from tollgate.flows.report import refuse_archived
from tollgate.operations.reach import check_reach
from tollgate.payments.archiving import MonthState
from tollgate.payments.ledger import LedgerAccount
from tollgate.store import archives
from tollgate.store.database import Database
from tollgate.store.payments import find_payment
from tollgate.values import (
    DAY,
    ChannelId,
    InvalidParameters,
    MerchantId,
    NotFound,
    PaymentId,
    Refusal,
    TemporarilyUnavailable,
)
from tollgate.vault import archive_writing
from tollgate.vault.archive_files import ArchiveError
from unit.app_fixture import CHANNEL, MERCHANT

pytestmark = pytest.mark.anyio

ARCHIVED = "700.500.004"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


# ---- what goes ----


async def test_chains_at_rest_leave_the_database_and_all_others_stay(db: Database, folder: Path) -> None:
    shelf = await open_shelf(await live_through_everything(db), folder)
    before = await shelf.verify()
    [moved] = await shelf.archive()
    after = await shelf.verify()

    assert (moved.month, moved.part, moved.chains, moved.payments) == (MONTH, 1, 10, 21)
    assert moved.kept == {"it is still open": 7, "a job is still to be done for it": 1}
    assert len(await shelf.list_live()) == len(shelf.before) - 21
    assert [finding.render() for finding in after.findings] == []
    assert after.chains_count == before.chains_count
    assert after.accounts == before.accounts
    assert after.rows["archived_payments"] == 21
    await shelf.expect_whole()


async def test_sums_stay_right_without_the_folder_and_the_audit_says_what_it_left_out(
    db: Database, folder: Path
) -> None:
    shelf = await open_paid(db, folder)
    before = await shelf.verify()
    await shelf.archive()
    after = await shelf.verify(with_folder=False)

    assert not after.findings
    assert after.accounts == before.accounts
    assert next(iter(after.accounts.values()))[LedgerAccount.EARNED] == 3 * 9200 - 200
    assert after.unchecked == [
        "4 payments in 1 archived months were not checked: name the folder with --archive",
    ]


async def test_a_chain_leaves_with_the_month_in_which_it_went_on(db: Database, folder: Path) -> None:
    lives = await open_lives(db)
    await lives.pay("db")
    await lives.pay("db refunded later")
    lives.clock.at += 20 * DAY
    await lives.follow("rf", "RF", "db refunded later", 200)
    shelf = await open_shelf(lives, folder)
    [first] = await shelf.archive(NEXT)
    assert (first.payments, first.kept) == (1, {"it went on after the month": 1})
    moved = await shelf.archive("2027-01")

    assert [(each.month, each.payments) for each in moved if each.payments] == [(NEXT, 2)]
    assert await shelf.list_live() == []
    await shelf.expect_whole()


async def test_what_was_open_leaves_later_as_another_part(db: Database, folder: Path) -> None:
    lives = await open_lives(db)
    await lives.pay("db")
    await lives.pay("pa", payment_type="PA")
    shelf = await open_shelf(lives, folder)
    # An authorization that a long contract keeps open.
    shelf.app = msgspec.structs.replace(shelf.app, authorization_lifetime=1000 * DAY)
    [first] = await shelf.archive()
    shelf.app = msgspec.structs.replace(shelf.app, authorization_lifetime=7 * DAY)
    [second] = await shelf.archive()

    assert [(each.part, each.payments) for each in (first, second)] == [(1, 1), (2, 1)]
    assert await shelf.archive() == []
    await shelf.expect_whole()


async def test_a_chain_that_was_changed_by_hand_stays(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await tamper(db, "UPDATE payments SET amount = 1 WHERE id = :id", id=shelf.lives.ids["db 1"])
    [moved] = await shelf.archive()

    assert moved.kept == {"it is still open": 1}
    assert await find_payment(db, MERCHANT.id, PaymentId(shelf.lives.ids["db 1"])) is not None


async def test_a_chain_without_its_ledger_entry_stays(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await tamper(db, "DELETE FROM ledger_entries WHERE payment_id = :id", id=shelf.lives.ids["db 1"])
    [moved] = await shelf.archive()

    assert moved.kept == {"`tollgate verify` has a finding about it": 1}


@pytest.mark.parametrize(("month", "reason"), [("2027-05", "2027-03 at the latest"), ("2026-13", "yyyy-MM")])
async def test_a_month_that_is_too_young_or_none_is_refused(
    db: Database, folder: Path, month: str, reason: str
) -> None:
    shelf = await open_paid(db, folder)
    with pytest.raises(Refusal) as refused:
        await shelf.archive(month)

    assert reason in refused.value.detail
    assert not folder.exists()


async def test_the_file_has_one_chain_a_line_without_its_account(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    [path] = folder.glob("*/*.jsonl.gz")
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]

    assert sorted(len(line["payments"]) for line in lines) == [1, 1, 2]
    for line in lines:
        assert {*line} == {"merchant_id", "first_id", *archives.ARCHIVED_TABLES}
        assert len(line["ledger_entries"]) == len(line["outbox"]) == len(line["payments"])
        assert not any("sealed_account" in row for row in line["payments"])


# ---- reading and following up ----


async def test_an_archived_payment_needs_the_folder_to_be_read(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    blind = msgspec.structs.replace(shelf.app, archive=None)
    with pytest.raises(TemporarilyUnavailable) as refused:
        await look_up(blind, MERCHANT.id, shelf.lives.ids["db 0"])

    assert refused.value.detail == f"the payment was archived with {MONTH}, and the archive cannot be read at present"
    assert await look_up(blind, MERCHANT.id, "8a" + "0" * 30) is None
    assert await look_up(shelf.app, MerchantId("8a" + "3" * 30), shelf.lives.ids["db 0"]) is None


@pytest.mark.parametrize("payment_type", ["RF", "RV", "CP", "RB"])
async def test_a_follow_up_of_an_archived_payment_has_its_code(db: Database, folder: Path, payment_type: str) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    for app in (shelf.app, msgspec.structs.replace(shelf.app, archive=None)):
        shelf.lives.app = app
        with pytest.raises(Refusal) as refused:
            await shelf.lives.follow("again", payment_type, "db 1", 100)
        assert refused.value.result.code == ARCHIVED
        assert "moved to the archive" in refused.value.detail


async def test_an_access_token_of_another_channel_does_not_reach_an_archived_payment(
    db: Database, folder: Path
) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    archived = shelf.lives.ids["db 1"]
    await check_reach(shelf.app, MERCHANT.id, [shelf.before[0].channel_id], [archived])

    with pytest.raises(NotFound):
        await check_reach(shelf.app, MERCHANT.id, [ChannelId("8a" + "9" * 30)], [archived])


async def test_a_dispute_of_an_archived_payment_is_refused(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    with pytest.raises(Refusal) as refused:
        await shelf.lives.record("cb", "CB", "db 1", 9200)

    assert refused.value.result.code == ARCHIVED


async def test_an_event_of_the_acquirer_about_an_archived_capture_is_logged_and_not_asked_for_again(
    db: Database, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lives = await open_lives(db)
    await lives.pay("pa", payment_type="PA")
    await lives.follow("cp", "CP", "pa", 9200)
    shelf = await open_shelf(lives, folder)
    await shelf.archive()
    line = RecordLine(number=0, payment_type="CB", amount=9200, currency="EUR", result_code="", reference="dp_1")
    held = await look_up(shelf.app, MERCHANT.id, lives.ids["pa"])
    assert held is not None
    await take_dispute(shelf.app, CHANNEL, held, line, "ndc")

    [logged] = [record for record in caplog.records if record.message == "acquirer event refused"]
    assert (logged.code, logged.payment) == (ARCHIVED, lives.ids["cp"])  # type: ignore[attr-defined]
    assert await shelf.list_live() == []


async def test_reports_of_archived_months_are_refused(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    begin = shelf.before[0].created_at
    await refuse_archived(shelf.app, begin, "date.from")
    await shelf.archive()
    with pytest.raises(InvalidParameters) as refused:
        await refuse_archived(shelf.app, begin, "date.from")
    await refuse_archived(shelf.app, begin + 30 * DAY, "date.from")

    [fault] = refused.value.faults
    assert (fault.name, fault.message[:30]) == ("date.from", "must not be before 2026-12-01:")


# ---- a disk that is full ----


@pytest.mark.parametrize("file", ["jsonl.gz", "index", "manifest"])
async def test_a_full_disk_loses_nothing_and_leaves_nothing(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    shelf = await open_paid(db, folder)
    write = archive_writing._HashedFile.write

    def fill(self: archive_writing._HashedFile, content: bytes) -> None:
        if self.path.name.endswith(file):
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        write(self, content)

    def refuse(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        if file == "manifest":
            patched.setattr(archive_writing, "put_manifest", refuse)
        else:
            patched.setattr(archive_writing._HashedFile, "write", fill)
        with pytest.raises(OSError, match="No space"):
            await shelf.archive()

    assert [*folder.iterdir()] == []
    assert [each.state for each in await archives.list_archived_months(db)] == [MonthState.GIVEN_UP]
    assert await shelf.list_live() == shelf.before
    await shelf.lives.follow("still possible", "RF", "db 1", 100)


async def test_files_that_do_not_read_back_remove_nothing(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = await open_paid(db, folder)
    finish = archive_writing.PartWriter.finish

    def lie(self: archive_writing.PartWriter) -> Any:
        chains, index = finish(self)
        path = self._folder / chains.name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        return chains, index

    monkeypatch.setattr(archive_writing.PartWriter, "finish", lie)
    with pytest.raises(ArchiveError, match="is not the file that was written"):
        await shelf.archive()

    assert await shelf.list_live() == shelf.before
    assert [each.state for each in await archives.list_archived_months(db)] == [MonthState.GIVEN_UP]


async def test_the_database_knows_what_was_moved(db: Database, folder: Path) -> None:
    shelf = await open_paid(db, folder)
    await shelf.archive()
    [archived] = await archives.list_archived_months(db)

    assert (archived.name, archived.state, archived.payments) == (f"{MONTH}.1", MonthState.MOVED, 4)
    assert await archives.count_places(db) == {(MONTH, 1): 4}
