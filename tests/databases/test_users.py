"""Users, roles, sessions, passkeys and failed sign-ins: what is guarded stays so when several act at once."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from tollgate.catalog.permissions import Role
from tollgate.payments.users import Grant, Passkey, Session, Stage, User
from tollgate.store import users
from tollgate.store.database import Database
from tollgate.store.opening import add_setting, get_setting, replace_setting_writes

pytestmark = pytest.mark.anyio

USER = User(id="8a" + "1" * 30, name="jane", created_at=1, password_hash="hash")
GRANT = Grant(user_id=USER.id, merchant_id="m", role=Role.OPERATOR, refund_limit=500)
SESSION = Session(
    user_id=USER.id,
    id="first",
    token_hash=b"first",
    stage=Stage.SIGNED_IN,
    created_at=100,
    used_at=100,
    confirmed_at=100,
    address="192.0.2.1",
    browser="Browser",
)
PASSKEY = Passkey(user_id=USER.id, id="key", name="Phone", public_key=b"\x00key", sign_count=4, created_at=7)


async def get_user(db: Database) -> User:
    found = await users.find_user(db, USER.id)
    assert found is not None
    return found


async def test_a_user_is_read_as_it_was_written_and_its_name_is_taken(db: Database) -> None:
    full = replace(USER, sealed_totp=b"\x00\xff", recovery_hashes=("a", "b"), must_change_password=True, totp_step=9)
    assert await users.insert_user(db, full, [GRANT])

    assert await users.find_user_by_name(db, "jane") == full
    assert await users.list_grants(db, USER.id) == [GRANT]
    assert await users.list_sealed_totp(db) == [(USER.id, b"\x00\xff")]
    assert not await users.insert_user(db, replace(USER, id="other"), [])


async def test_of_changes_at_once_one_succeeds(db: Database) -> None:
    await users.insert_user(db, USER, [])
    changes = [users.update_user(db, replace(USER, password_hash=f"hash {n}")) for n in range(8)]

    assert sorted(await asyncio.gather(*changes)) == [False] * 7 + [True]
    assert (await get_user(db)).revision == 2


async def test_a_step_of_one_time_codes_is_used_once_and_never_an_older_one(db: Database) -> None:
    await users.insert_user(db, USER, [])

    assert sorted(await asyncio.gather(*[users.use_totp_step(db, USER, 50) for _ in range(8)])) == [False] * 7 + [True]
    assert not await users.use_totp_step(db, USER, 49)
    assert await users.use_totp_step(db, USER, 51)


async def test_a_change_of_a_user_does_not_bring_a_used_step_back(db: Database) -> None:
    await users.insert_user(db, USER, [])
    await users.use_totp_step(db, USER, 50)
    await users.update_user(db, replace(USER, password_hash="new"))

    assert not await users.use_totp_step(db, USER, 50)


async def test_a_role_is_given_once_with_its_last_limit_and_taken(db: Database) -> None:
    await users.insert_user(db, USER, [GRANT])
    channel = replace(GRANT, channel_id="c", refund_limit=None)
    for grant in (channel, replace(GRANT, refund_limit=900)):
        assert await users.put_grant(db, grant)

    assert sorted(await users.list_all_grants(db), key=lambda each: each.channel_id) == [
        replace(GRANT, refund_limit=900),
        channel,
    ]
    assert await users.delete_grant(db, channel)
    assert not await users.delete_grant(db, channel)


async def test_of_two_changes_under_one_lock_only_the_first_is_written(db: Database) -> None:
    await users.insert_user(db, USER, [])
    await add_setting(db, "lock", "0")
    locks = [replace_setting_writes("lock", "0", "1") for _ in range(2)]
    grants = (GRANT, replace(GRANT, role=Role.VIEWER))

    written = await asyncio.gather(
        *[users.put_grant(db, grant, *lock) for grant, lock in zip(grants, locks, strict=True)]
    )

    assert sorted(written) == [False, True]
    assert len(await users.list_grants(db, USER.id)) == 1
    assert await get_setting(db, "lock") == "1"


# ---- sessions ----


async def test_a_session_replaces_another_once(db: Database) -> None:
    await users.insert_user(db, USER, [])
    assert await users.insert_session(db, USER, SESSION)
    followers = [replace(SESSION, id=f"{n}", token_hash=b"%d" % n) for n in range(6)]

    replaced = await asyncio.gather(*[users.insert_session(db, USER, each, SESSION) for each in followers])

    assert sorted(replaced) == [False] * 5 + [True]
    (left,) = await users.list_sessions(db, USER.id)
    assert await users.find_session(db, SESSION.token_hash) is None
    assert await users.find_session(db, left.token_hash) == left


async def test_no_session_begins_for_a_user_that_was_changed_meanwhile(db: Database) -> None:
    await users.insert_user(db, USER, [])
    await users.update_user(db, replace(USER, password_hash="new"))

    assert not await users.insert_session(db, USER, SESSION)
    assert await users.insert_session(db, await get_user(db), SESSION)


async def test_a_session_and_a_new_password_at_once_leave_no_session_of_the_old_one(db: Database) -> None:
    await users.insert_user(db, USER, [])
    changed = replace(USER, password_hash="new")
    sessions = [replace(SESSION, id=f"{n}", token_hash=b"%d" % n) for n in range(6)]

    await asyncio.gather(
        *[users.insert_session(db, USER, each) for each in sessions[:3]],
        users.update_user(db, changed, users.delete_sessions_write(USER.id)),
        *[users.insert_session(db, USER, each) for each in sessions[3:]],
    )

    assert await users.list_sessions(db, USER.id) == []


async def test_a_revoked_session_is_neither_used_nor_confirmed(db: Database) -> None:
    await users.insert_user(db, USER, [])
    await users.insert_session(db, USER, SESSION)
    assert await users.touch_session(db, SESSION, 200)
    assert await users.confirm_session(db, SESSION, 300)
    assert await users.find_session(db, b"first") == replace(SESSION, used_at=200, confirmed_at=300)
    assert await users.delete_session(db, USER.id, "first")

    assert not await users.touch_session(db, SESSION, 400)
    assert not await users.confirm_session(db, SESSION, 400)
    assert not await users.set_challenge(db, SESSION, b"challenge")
    assert not await users.delete_session(db, USER.id, "first")


async def test_a_challenge_is_taken_once(db: Database) -> None:
    await users.insert_user(db, USER, [])
    await users.insert_session(db, USER, SESSION)
    await users.set_challenge(db, SESSION, b"\x00first")
    seen = await users.find_session(db, b"first")
    assert seen is not None

    assert sorted(await asyncio.gather(*[users.take_challenge(db, seen) for _ in range(6)])) == [False] * 5 + [True]
    await users.set_challenge(db, SESSION, b"second")
    assert not await users.take_challenge(db, seen)


async def test_old_sessions_are_purged(db: Database) -> None:
    await users.insert_user(db, USER, [])
    for n in range(5):
        await users.insert_session(db, USER, replace(SESSION, id=f"{n}", token_hash=b"%d" % n, created_at=n))

    assert [await users.purge_sessions(db, 4, 3) for _ in range(3)] == [3, 1, 0]
    assert [each.id for each in await users.list_sessions(db, USER.id)] == ["4"]


# ---- passkeys and failures ----


async def test_a_passkey_counts_its_uses_one_by_one(db: Database) -> None:
    await users.insert_user(db, USER, [])
    assert await users.update_user(db, USER, *users.insert_passkey_writes(PASSKEY))

    used = await asyncio.gather(*[users.use_passkey(db, PASSKEY, 5, 50) for _ in range(6)])

    assert sorted(used) == [False] * 5 + [True]
    counted = replace(PASSKEY, sign_count=5, used_at=50)
    assert await users.list_passkeys(db, USER.id) == await users.list_all_passkeys(db) == [counted]
    assert await users.update_user(db, await get_user(db), *users.delete_passkey_writes(counted))
    assert not await users.use_passkey(db, counted, 6, 60)


async def test_failures_at_once_are_all_counted_and_begin_anew_after_a_while(db: Database) -> None:
    counts = await asyncio.gather(*[users.count_failure(db, "name", 100, 0) for _ in range(12)])
    assert sorted(counts) == list(range(1, 13))

    assert await users.count_failure(db, "name", 200, 101) == 1
    assert await users.count_failure(db, "other", 200, 101) == 1
    await users.forget_failures(db, "name")
    assert await users.find_failures(db, "name") is None
    assert await users.purge_failures(db, 201, 10) == 1


async def test_a_rewrapped_secret_is_not_overwritten_by_a_change_that_was_read_before(db: Database) -> None:
    old = replace(USER, sealed_totp=b"old")
    await users.insert_user(db, old, [])
    assert await users.rewrap_totp(db, old, b"new")

    assert not await users.update_user(db, replace(old, password_hash="changed"))
    assert not await users.rewrap_totp(db, old, b"newer")
    assert (await get_user(db)).sealed_totp == b"new"
