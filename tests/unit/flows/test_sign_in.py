"""Signing in: the lock after failures, what sessions last, and what is done for names that nobody has."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.flows import factors, sign_in, users
from tollgate.flows.sign_in import Factor
from tollgate.flows.users import OPERATOR
from tollgate.operations.app import App
from tollgate.payments.users import Stage
from tollgate.store import users as store
from tollgate.values import MINUTE, SECOND, Forbidden, InvalidParameters, Secret
from tollgate.vault import passwords
from unit.flows.signing_in import ORIGIN, PASSWORD, WRONG, add, enter, get_clock, get_user, get_visitor, list_actions
from unit.flows.signing_in import make_code as make_totp_code

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("quick_passwords")]


async def fail(app: App, name: str, times: int) -> None:
    for _ in range(times):
        assert await sign_in.sign_in(app, name, WRONG, ORIGIN) is None


async def test_after_ten_failures_a_name_is_locked_for_half_an_hour(app: App) -> None:
    await add(app, "jane")
    await fail(app, "jane", LIMITS.sign_in_failures_max)

    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None
    get_clock(app).at += LIMITS.sign_in_lockout
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None
    get_clock(app).at += 1
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is not None
    assert ("account locked", "jane") in await list_actions(app)


async def test_tries_while_a_name_is_locked_do_not_prolong_the_lock(app: App) -> None:
    await add(app, "jane")
    await fail(app, "jane", LIMITS.sign_in_failures_max)
    get_clock(app).at += LIMITS.sign_in_lockout - MINUTE
    await fail(app, "jane", 3)
    get_clock(app).at += MINUTE + 1

    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is not None


async def test_a_success_forgets_the_failures_before_it(app: App) -> None:
    await add(app, "jane")
    for _ in range(2):
        await fail(app, "jane", LIMITS.sign_in_failures_max - 1)
        assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is not None


async def test_guesses_at_once_cannot_pass_the_limit(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    await add(app, "jane")
    judged = 0

    async def count(_password: Secret, _hash: str | None) -> bool:
        nonlocal judged
        judged += 1
        await asyncio.sleep(0)
        return True

    await fail(app, "jane", LIMITS.sign_in_failures_max - 3)
    monkeypatch.setattr(sign_in, "is_password", count)
    monkeypatch.setattr(sign_in, "forget_failures", lambda *_: asyncio.sleep(0))
    answers = await asyncio.gather(*[sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) for _ in range(20)])

    assert judged == 20
    assert sum(answer is not None for answer in answers) == 3


@pytest.mark.parametrize("name", ["jane", "nobody", "gone", "locked"])
async def test_every_name_costs_one_verification_of_a_password(
    app: App, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await add(app, "jane")
    gone = await add(app, "gone")
    await users.disable_user(app, OPERATOR, gone.id)
    await add(app, "locked")
    await fail(app, "locked", LIMITS.sign_in_failures_max)
    verified: list[str | None] = []

    def verify(_password: Secret, password_hash: str | None) -> bool:
        verified.append(password_hash)
        return False

    monkeypatch.setattr(passwords, "is_password", verify)
    assert await sign_in.sign_in(app, name, WRONG, ORIGIN) is None
    assert len(verified) == 1


async def test_the_hash_that_nobody_has_is_verified_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[str] = []
    usual = passwords._hasher.verify

    def verify(password_hash: str, password: str) -> bool:
        verified.append(password_hash.rpartition("$")[0].rpartition("$")[0])
        return usual(password_hash, password)

    monkeypatch.setattr(type(passwords._hasher), "verify", staticmethod(verify))
    assert not passwords.is_password(WRONG, None)
    assert not passwords.is_password(WRONG, passwords.hash_password(PASSWORD))
    assert not passwords.is_password(Secret("no user has this password"), None)
    assert len(set(verified)) == 1


async def test_a_name_that_nobody_has_is_locked_too_and_is_not_written_down(app: App) -> None:
    await fail(app, "hunter2 in the wrong field", LIMITS.sign_in_failures_max)

    actions = await list_actions(app)
    assert actions.count(("account locked", "unknown name")) == 1
    assert actions.count(("sign-in failed", "unknown name")) == LIMITS.sign_in_failures_max


async def test_a_disabled_user_is_not_let_in_and_its_sessions_end_at_once(app: App) -> None:
    jane = await add(app, "jane")
    new = await enter(app, "jane")
    await users.disable_user(app, OPERATOR, jane.id)

    assert await sign_in.find_visitor(app, new.token) is None
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None
    await users.enable_user(app, OPERATOR, jane.id)
    assert await sign_in.find_visitor(app, new.token) is None
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is not None


# ---- sessions ----


async def test_a_session_ends_after_15_idle_minutes(app: App) -> None:
    await add(app, "jane")
    new = await enter(app, "jane")
    for _ in range(3):
        get_clock(app).at += LIMITS.session_idle
        assert await sign_in.find_visitor(app, new.token) is not None
    get_clock(app).at += LIMITS.session_idle + 1

    assert await sign_in.find_visitor(app, new.token) is None


async def test_a_session_ends_after_12_hours_whatever_replaced_it(app: App) -> None:
    await add(app, "jane")
    new, clock = await enter(app, "jane"), get_clock(app)
    end, visitor = clock.at + LIMITS.session_lifetime, await get_visitor(app, new)
    while clock.at + LIMITS.session_idle < end:
        clock.at += LIMITS.session_idle
        visitor = await get_visitor(app, new)
    new = await factors.change_password(app, visitor, Secret("quite another one"), ORIGIN)
    clock.at = end
    assert await sign_in.find_visitor(app, new.token) is not None
    clock.at = end + 1

    assert await sign_in.find_visitor(app, new.token) is None


async def test_a_new_password_ends_the_other_sessions_and_replaces_the_token_of_this_one(app: App) -> None:
    await add(app, "jane")
    other, own = await enter(app, "jane"), await enter(app, "jane")

    new = await factors.change_password(app, await get_visitor(app, own), Secret("quite another one"), ORIGIN)

    assert await sign_in.find_visitor(app, other.token) is None
    assert await sign_in.find_visitor(app, own.token) is None
    assert (await get_visitor(app, new)).session.stage is Stage.SIGNED_IN
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None


async def test_a_reset_ends_a_sign_in_that_is_being_judged(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    jane = await add(app, "jane")
    usual = sign_in.has_second_factor

    async def reset_meanwhile(app: App, _user: object) -> bool:
        monkeypatch.setattr(sign_in, "has_second_factor", usual)
        await users.reset_user(app, OPERATOR, jane.id)
        return False

    monkeypatch.setattr(sign_in, "has_second_factor", reset_meanwhile)
    with pytest.raises(Forbidden):
        await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN)
    assert await store.list_sessions(app.database, jane.id) == []


# ---- second factors ----


async def add_totp(app: App, name: str) -> tuple[Secret, list[Secret]]:
    """Sets one-time codes up, a step ago, so that the code of the present step is not used yet."""
    secret = passwords.make_totp_secret()
    visitor = await get_visitor(app, await enter(app, name))
    codes = await factors.add_totp(app, visitor, secret, make_totp_code(app, secret), ORIGIN)
    get_clock(app).at += 60 * SECOND
    return secret, codes


async def test_a_code_completes_a_sign_in_once_and_replaces_the_token(app: App) -> None:
    await add(app, "jane")
    secret, _ = await add_totp(app, "jane")
    begun = await enter(app, "jane")
    visitor = await get_visitor(app, begun)
    assert visitor.session.stage is Stage.SECOND_FACTOR

    code = make_totp_code(app, secret)
    assert await sign_in.check_code(app, visitor.user, code, ORIGIN) is Factor.TOTP
    done = await sign_in.pass_second_factor(app, visitor, Factor.TOTP, ORIGIN)

    assert (await get_visitor(app, done)).session.stage is Stage.SIGNED_IN
    assert await sign_in.find_visitor(app, begun.token) is None
    assert await sign_in.check_code(app, visitor.user, code, ORIGIN) is None
    assert await sign_in.check_code(app, visitor.user, make_totp_code(app, secret, -1), ORIGIN) is None


async def test_a_recovery_code_is_taken_once(app: App) -> None:
    await add(app, "jane")
    _, codes = await add_totp(app, "jane")
    assert len(codes) == passwords.RECOVERY_CODES
    shown = Secret(passwords.show_recovery_code(codes[0]))
    visitor = await get_visitor(app, await enter(app, "jane"))

    assert await sign_in.check_code(app, visitor.user, shown, ORIGIN) is Factor.RECOVERY_CODE
    done = await sign_in.pass_second_factor(app, visitor, Factor.RECOVERY_CODE, ORIGIN)
    user = (await get_visitor(app, done)).user
    assert len(user.recovery_hashes) == passwords.RECOVERY_CODES - 1
    assert await sign_in.check_code(app, user, shown, ORIGIN) is None
    # A request that read the user before the code was used does not get it through a second time.
    assert await sign_in.check_code(app, visitor.user, shown, ORIGIN) is None


async def test_wrong_codes_lock_the_name_too(app: App) -> None:
    await add(app, "jane")
    secret, _ = await add_totp(app, "jane")
    visitor = await get_visitor(app, await enter(app, "jane"))
    for _ in range(LIMITS.sign_in_failures_max - 1):
        assert await sign_in.check_code(app, visitor.user, Secret("wrong"), ORIGIN) is None

    assert await sign_in.check_code(app, visitor.user, make_totp_code(app, secret), ORIGIN) is None
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None


async def test_a_right_password_does_not_forget_wrong_codes(app: App) -> None:
    await add(app, "jane")
    await add_totp(app, "jane")
    tries = 0
    while (new := await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN)) is not None:
        visitor = await get_visitor(app, new)
        assert await sign_in.check_code(app, visitor.user, Secret("000000"), ORIGIN) is None
        tries += 1

    assert tries == LIMITS.sign_in_failures_max // 2


async def test_a_wrong_first_code_sets_nothing_up(app: App) -> None:
    await add(app, "jane")
    visitor = await get_visitor(app, await enter(app, "jane"))

    with pytest.raises(InvalidParameters):
        await factors.add_totp(app, visitor, passwords.make_totp_secret(), Secret("wrong"), ORIGIN)
    assert (await get_user(app, "jane")).sealed_totp is None


async def test_the_last_second_factor_of_a_live_host_stays(app: App) -> None:
    await add(app, "jane")
    secret, _ = await add_totp(app, "jane")
    live = replace(app, is_live=True)
    visitor = await get_visitor(app, await enter(app, "jane"))
    await sign_in.check_code(app, visitor.user, make_totp_code(app, secret), ORIGIN)

    with pytest.raises(InvalidParameters) as refused:
        await factors.remove_totp(live, visitor, ORIGIN)
    assert "the last one" in refused.value.faults[0].message
    await factors.remove_totp(app, visitor, ORIGIN)
    user = await get_user(app, "jane")
    assert (user.sealed_totp, user.recovery_hashes) == (None, ())


async def test_new_recovery_codes_replace_the_old_ones(app: App) -> None:
    await add(app, "jane")
    _, old = await add_totp(app, "jane")
    visitor = await get_visitor(app, await enter(app, "jane"))
    new = await factors.replace_recovery_codes(app, visitor, ORIGIN)

    user = await get_user(app, "jane")
    assert await sign_in.check_code(app, user, old[0], ORIGIN) is None
    assert await sign_in.check_code(app, user, new[0], ORIGIN) is Factor.RECOVERY_CODE


async def test_a_live_host_lets_nobody_in_without_a_second_factor(app: App) -> None:
    await add(app, "jane")
    live = replace(app, is_live=True)
    new = await enter(live, "jane")
    assert new.session.stage is Stage.SETTING_UP

    visitor = await get_visitor(live, new)
    changed = await factors.change_password(live, visitor, Secret("quite another one"), ORIGIN)
    assert changed.session.stage is Stage.SETTING_UP
    visitor = await get_visitor(live, changed)
    secret = passwords.make_totp_secret()
    await factors.add_totp(live, visitor, secret, make_totp_code(live, secret), ORIGIN)
    done = await sign_in.pass_set_up(live, replace(visitor, user=await get_user(live, "jane")), ORIGIN)
    assert done.session.stage is Stage.SIGNED_IN
    assert await sign_in.find_visitor(live, changed.token) is None


async def test_a_right_password_at_the_last_try_locks_nobody(app: App) -> None:
    await add(app, "jane")
    await fail(app, "jane", LIMITS.sign_in_failures_max - 1)

    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is not None
    assert ("account locked", "jane") not in await list_actions(app)
