"""Nobody changes a user beyond its own roles, nobody itself, and nobody the last user of the platform."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from tollgate.catalog.permissions import Role
from tollgate.flows import factors, sign_in, users, verify_users
from tollgate.flows.auditing import PAUSES_S, Audit, AuditReport
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.users import OPERATOR, Authority
from tollgate.operations.app import App
from tollgate.operations.settings import find_sealed_setting, put_sealed_setting
from tollgate.payments.merchants import Channel, Merchant
from tollgate.payments.users import OFFICE_PASSWORD, Grant, User
from tollgate.store import users as store
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.values import DAY, MINUTE, ChannelId, Forbidden, InvalidParameters, MerchantId, NotFound, Secret
from tollgate.vault import passwords
from tollgate.workers.table import WORKERS
from unit.app_fixture import CHANNEL, MERCHANT, NOW
from unit.flows.signing_in import (
    ORIGIN,
    PASSWORD,
    add,
    enter,
    get_clock,
    get_user,
    get_visitor,
    list_actions,
    make_authority,
    make_code,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("quick_passwords")]

OTHER = Merchant(id=MerchantId("8a" + "3" * 30), name="Other", created_at=NOW)
SECOND_CHANNEL = Channel(id=ChannelId("8a" + "4" * 30), merchant_id=MERCHANT.id, name="Second", created_at=NOW)
PLATFORM = Grant(user_id="", role=Role.PLATFORM)
ADMINISTRATOR = Grant(user_id="", merchant_id=MERCHANT.id, role=Role.ADMINISTRATOR)
OPERATOR_ROLE = Grant(user_id="", merchant_id=MERCHANT.id, role=Role.OPERATOR)
ELSEWHERE = Grant(user_id="", merchant_id=OTHER.id, role=Role.VIEWER)


@pytest.fixture(autouse=True)
async def neighbours(app: App) -> None:
    await insert_merchant(app.database, OTHER)
    await insert_channel(app.database, SECOND_CHANNEL)
    await app.merchants.refresh(app.database)


@pytest.fixture
async def head(app: App) -> Authority:
    """The administrator of the first merchant."""
    return await make_authority(app, await add(app, "head", ADMINISTRATOR))


async def test_a_new_user_signs_in_with_the_password_that_is_shown_once_and_must_change_it(
    app: App, head: Authority
) -> None:
    given = await users.add_user(app, head, " Jane@Example.com ", OPERATOR_ROLE)

    assert given.user.name == "jane@example.com"
    new = await enter(app, "jane@example.com", given.password)
    assert new.session.stage.name == "SETTING_UP"
    assert ("user added", "jane@example.com") in await list_actions(app)


@pytest.mark.parametrize("name", ["", "jane doe", "-jane", "jäne", "a" * 65, "head", "HEAD"])
async def test_a_name_is_new_and_of_few_signs(app: App, head: Authority, name: str) -> None:
    with pytest.raises(InvalidParameters):
        await users.add_user(app, head, name, OPERATOR_ROLE)


@pytest.mark.parametrize(
    "grant",
    [PLATFORM, ELSEWHERE, replace(ELSEWHERE, role=Role.ADMINISTRATOR)],
    ids=["platform", "elsewhere", "administrator elsewhere"],
)
async def test_an_administrator_gives_no_role_beyond_its_own(app: App, head: Authority, grant: Grant) -> None:
    jane = await add(app, "jane", OPERATOR_ROLE)

    with pytest.raises((Forbidden, NotFound)):
        await users.add_user(app, head, "john", grant)
    with pytest.raises((Forbidden, NotFound)):
        await users.give_role(app, head, replace(grant, user_id=jane.id))
    assert len(await store.list_grants(app.database, jane.id)) == 1


async def test_a_role_for_one_channel_gives_none_for_the_merchant_or_another_channel(app: App) -> None:
    local = await add(app, "local", replace(ADMINISTRATOR, channel_id=CHANNEL.id))
    by = await make_authority(app, local)
    jane = await add(app, "jane", OPERATOR_ROLE)

    for channel_id in ("", SECOND_CHANNEL.id):
        with pytest.raises(Forbidden):
            await users.add_user(app, by, "john", replace(OPERATOR_ROLE, channel_id=channel_id))
    with pytest.raises(NotFound):
        await users.reset_user(app, by, jane.id)
    await users.add_user(app, by, "john", replace(OPERATOR_ROLE, channel_id=CHANNEL.id))
    assert {row.user.name for row in await users.list_users(app, by, MERCHANT.id)} == {"john", "local"}


async def test_an_operator_changes_nobody(app: App) -> None:
    by = await make_authority(app, await add(app, "clerk", OPERATOR_ROLE))

    with pytest.raises(Forbidden):
        await users.add_user(app, by, "john", replace(OPERATOR_ROLE, role=Role.VIEWER))


async def test_a_limit_for_refunds_is_not_passed_on_higher(app: App) -> None:
    by = await make_authority(app, await add(app, "head", replace(ADMINISTRATOR, refund_limit=5000)))

    for limit in (None, 5001):
        with pytest.raises(InvalidParameters):
            await users.add_user(app, by, "jane", replace(OPERATOR_ROLE, refund_limit=limit))
    await users.add_user(app, by, "jane", replace(OPERATOR_ROLE, refund_limit=0))
    await users.add_user(app, by, "john", replace(OPERATOR_ROLE, role=Role.VIEWER))


@pytest.mark.parametrize("change", [users.reset_user, users.disable_user, users.enable_user])
async def test_a_user_with_roles_elsewhere_is_not_changed_as_a_whole(app: App, head: Authority, change: object) -> None:
    assert callable(change)
    shared = await add(app, "shared", OPERATOR_ROLE, ELSEWHERE)
    root = await add(app, "root", PLATFORM, OPERATOR_ROLE)
    stranger = await add(app, "stranger", ELSEWHERE)

    for target, refusal in ((shared, Forbidden), (root, Forbidden), (stranger, NotFound)):
        with pytest.raises(refusal):
            await change(app, head, target.id)
        assert await get_user(app, target.name) == target


async def test_an_administrator_changes_only_the_roles_of_its_own_merchant(app: App, head: Authority) -> None:
    shared = await add(app, "shared", OPERATOR_ROLE, ELSEWHERE)
    own, elsewhere = sorted(
        await store.list_grants(app.database, shared.id), key=lambda grant: grant.merchant_id == OTHER.id
    )
    with pytest.raises((Forbidden, NotFound)):
        await users.take_role(app, head, elsewhere)
    await users.take_role(app, head, own)

    assert await store.list_grants(app.database, shared.id) == [elsewhere]
    with pytest.raises(NotFound):
        await users.give_role(app, head, own)


async def test_nobody_changes_itself(app: App, head: Authority) -> None:
    user_id = head.actor.user_id
    for change in (users.reset_user, users.disable_user, users.enable_user):
        with pytest.raises(Forbidden):
            await change(app, head, user_id)
    for change_role in (users.give_role, users.take_role):
        with pytest.raises(Forbidden):
            await change_role(app, head, replace(ADMINISTRATOR, user_id=user_id))


async def test_the_last_active_user_of_the_platform_stays(app: App) -> None:
    root, second = await add(app, "root", PLATFORM), await add(app, "second", PLATFORM)
    await users.disable_user(app, OPERATOR, second.id)

    with pytest.raises(Forbidden):
        await users.disable_user(app, OPERATOR, root.id)
    with pytest.raises(Forbidden):
        await users.take_role(app, OPERATOR, replace(PLATFORM, user_id=root.id))
    await users.enable_user(app, OPERATOR, second.id)
    await users.take_role(app, OPERATOR, replace(PLATFORM, user_id=root.id))


async def test_two_users_of_the_platform_cannot_disable_each_other_at_once(app: App) -> None:
    pair = await add(app, "root", PLATFORM), await add(app, "second", PLATFORM)
    first, second = [await make_authority(app, user) for user in pair]

    await asyncio.gather(
        users.disable_user(app, first, pair[1].id),
        users.disable_user(app, second, pair[0].id),
        return_exceptions=True,
    )

    assert sum(not user.is_disabled for user in await store.list_users(app.database)) == 1


async def add_factor(app: App, user: User) -> None:
    secret = passwords.make_totp_secret()
    visitor = await get_visitor(app, await enter(app, user.name))
    await factors.add_totp(app, visitor, secret, make_code(app, secret), ORIGIN)


async def test_a_reset_removes_factors_sessions_and_the_lock(app: App, head: Authority) -> None:
    jane = await add(app, "jane", OPERATOR_ROLE)
    await add_factor(app, jane)
    await sign_in.sign_in(app, "jane", Secret("wrong"), ORIGIN)

    given = await users.reset_user(app, head, jane.id, MERCHANT.id)

    user = await get_user(app, "jane")
    assert (user.sealed_totp, user.recovery_hashes, user.must_change_password) == (None, (), True)
    assert await store.list_sessions(app.database, jane.id) == []
    assert await sign_in.sign_in(app, "jane", PASSWORD, ORIGIN) is None
    assert await sign_in.sign_in(app, "jane", given.password, ORIGIN) is not None


async def test_nobody_resets_a_user_who_may_refund_more(app: App) -> None:
    """The password of the user would lift the limit of whoever reset it."""
    limited = await make_authority(app, await add(app, "limited", replace(ADMINISTRATOR, refund_limit=1000)))
    more = await add(app, "more", replace(OPERATOR_ROLE, refund_limit=1001))
    unlimited = await add(app, "unlimited", ADMINISTRATOR)
    for user in (more, unlimited):
        with pytest.raises(Forbidden):
            await users.reset_user(app, limited, user.id, MERCHANT.id)
    less = await add(app, "less", replace(OPERATOR_ROLE, refund_limit=1000))
    assert (await users.reset_user(app, limited, less.id, MERCHANT.id)).user.must_change_password


async def test_a_changed_password_is_no_fresh_second_factor(app: App) -> None:
    visitor = await get_visitor(app, await enter(app, (await add(app, "jane")).name))
    get_clock(app).at += 6 * MINUTE
    assert not sign_in.is_confirmed(app, visitor.session)

    new = await factors.change_password(app, visitor, Secret("quite another one"), ORIGIN)

    assert not sign_in.is_confirmed(app, new.session)
    assert not sign_in.is_confirmed(app, (await get_visitor(app, new)).session)


async def test_the_password_that_credentials_tells_is_forgotten_when_its_user_changes_it(app: App) -> None:
    jane, john = await add(app, "jane"), await add(app, "john", password=Secret("the password of john"))
    await put_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD, PASSWORD.reveal().encode())
    await users.reset_user(app, OPERATOR, john.id)
    assert await find_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD) is not None

    visitor = await get_visitor(app, await enter(app, jane.name))
    await factors.change_password(app, visitor, Secret("quite another one"), ORIGIN)
    assert await find_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD) is None


async def test_a_rotation_wraps_the_secrets_of_one_time_codes_again(app: App) -> None:
    await add_factor(app, await add(app, "jane"))
    rotated = app.keyring.with_new_key()
    assert await count_retired(app.database, rotated) == 1

    assert await rewrap_everything(app.database, rotated, lambda _count: None) == 1

    assert await count_retired(app.database, rotated) == 0
    jane = await get_user(app, "jane")
    assert passwords.open_totp(jane.sealed_totp or b"", jane.id, rotated.without_retired_keys()) is not None


async def test_the_audit_names_a_user_whose_secret_does_not_open(app: App) -> None:
    jane, john = await add(app, "jane"), await add(app, "john")
    await add_factor(app, jane)
    sealed = (await get_user(app, "jane")).sealed_totp
    # The secret of one user is put into the row of another.
    await store.update_user(app.database, replace(await get_user(app, "john"), sealed_totp=sealed))
    report = AuditReport(findings_max=10)
    audit = Audit(
        database=app.database,
        keyring=app.keyring,
        report=report,
        report_progress=lambda _table, _rows: None,
        pauses_s=PAUSES_S,
    )

    await verify_users.check_users(audit)

    assert [(finding.proof, finding.row_id) for finding in report.findings] == [("user", john.id)]
    assert "merchant" not in report.findings[0].render()


async def test_old_sessions_and_failures_are_removed_by_the_wall_clock(app: App) -> None:
    jane = await add(app, "jane")
    await enter(app, "jane")
    await sign_in.sign_in(app, "nobody", PASSWORD, ORIGIN)
    removals = [worker for worker in WORKERS if worker.name in ("user sessions", "failed sign-ins")]
    assert len(removals) == 2
    wall = get_clock(app).at
    moved = replace(app, clock=MovedClock(wall))
    assert [await worker.run(moved) for worker in removals] == [0, 0]
    get_clock(app).at += DAY

    assert [await worker.run(app) for worker in removals] == [1, 1]
    assert await store.list_sessions(app.database, jane.id) == []


class MovedClock:
    """The clock of a test host that was moved a year ahead."""

    def __init__(self, at: int) -> None:
        self._at = at

    def now(self) -> int:
        return self._at + 365 * DAY

    def wall(self) -> int:
        return self._at
