"""The merchant that a test host makes on its first start, so that a payment can be tried at once.

Merchants of a live host are made by its operator.
"""

from typing import Any

import msgspec

from tollgate.catalog.permissions import Role
from tollgate.operations.settings import add_sealed_setting, find_sealed_setting
from tollgate.payments.dispatching import DispatchRow
from tollgate.payments.merchants import Channel, Creditor, Merchant
from tollgate.payments.users import OFFICE_PASSWORD, Grant, User
from tollgate.sandbox.wallets import issuing
from tollgate.sandbox.wallets.provider import TokenRequest
from tollgate.store import merchants, opening, users
from tollgate.store.database import Database
from tollgate.values import ChannelId, Instant, MerchantId, Secret, make_id
from tollgate.vault.keyring import Keyring
from tollgate.vault.passwords import hash_password, make_password, show_password
from tollgate.vault.tokens import make_credential, open_token, show_token

SHOP = "/sandbox/shop"
"""The path of the demo shop."""

ADMINISTRATOR = "admin"
"""The name of the first user of the back office."""

_SETTING = "sandbox_tenant"

TEST_CREDITOR = Creditor(
    name="Sandbox merchant", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999"
)
"""Well formed, and published for tests."""


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    entity_id: str
    lenient_entity_id: str
    credential_id: str


class OfficeLogin(msgspec.Struct, frozen=True, kw_only=True):
    """The administrator of the sandbox; without a password once it was changed."""

    url: str
    user: str
    password: str | None


class Welcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The credentials for a first payment; the token is shown on purpose, because it opens a sandbox only."""

    front_url: str
    """The address of the front page, which shows all of this and leads everywhere."""
    base_url: str
    entity_id: str
    lenient_entity_id: str
    merchant_id: str
    """An entity id too: dispatch rows choose the channel."""
    access_token: str
    shop_url: str
    """The address of the demo shop, where the payment form can be tried."""
    office: OfficeLogin

    def render(self) -> str:
        return f"""
  Tollgate sandbox: open {self.front_url}

  base URL          {self.base_url}
  entity id         {self.entity_id}
  lenient entity id {self.lenient_entity_id}
  merchant id       {self.merchant_id}
  access token      {self.access_token}
  demo shop         {self.shop_url}
  back office       {self.office.url}
                    {self.office.user}, {self._describe_password()}

  Your first payment:

  curl {self.base_url}/v1/payments \\
    -H "Authorization: Bearer {self.access_token}" \\
    -d entityId={self.entity_id} \\
    -d amount=92.00 -d currency=EUR -d paymentType=DB -d paymentBrand=VISA \\
    -d card.number=4200000000000000 -d card.holder="Jane Jones" \\
    -d card.expiryMonth=05 -d card.expiryYear=2034 -d card.cvv=123
"""

    def _describe_password(self) -> str:
        return "the password that you chose" if self.office.password is None else f"password {self.office.password}"


async def ensure_tenant(database: Database, keyring: Keyring, now: Instant) -> Tenant:
    """Finds or makes the sandbox merchant; one of an earlier version is completed."""
    tenant = await find_tenant(database) or await _make_tenant(database, keyring, now)
    tenant = await _ensure_credential(database, keyring, tenant, now)
    entity_ids = (tenant.entity_id, tenant.lenient_entity_id)
    for channel in await merchants.list_channels(database):
        if channel.id in entity_ids and channel.creditor is None:
            await merchants.update_channel(database, msgspec.structs.replace(channel, creditor=TEST_CREDITOR))
    await issuing.ensure_wallets(database, keyring, entity_ids, now)
    await _ensure_administrator(database, keyring, now)
    return tenant


async def _ensure_credential(database: Database, keyring: Keyring, tenant: Tenant, now: Instant) -> Tenant:
    """Makes an access token where the former one was revoked or has expired, or where a snapshot came without it."""
    known = {credential.id: credential for credential in await merchants.list_credentials(database)}
    own = known.get(tenant.credential_id)
    if own is not None and own.revoked_at is None and not own.is_expired(now):
        return tenant
    owner = next(channel for channel in await merchants.list_channels(database) if channel.id == tenant.entity_id)
    credential = make_credential(owner.merchant_id, keyring, now).credential
    await merchants.insert_credential(database, credential)
    completed = msgspec.structs.replace(tenant, credential_id=credential.id)
    await _put_tenant(database, completed)
    return completed


async def _put_tenant(database: Database, tenant: Tenant) -> None:
    await opening.put_setting(database, _SETTING, msgspec.json.encode(tenant).decode())


async def _ensure_administrator(database: Database, keyring: Keyring, now: Instant) -> None:
    """Makes the user of the back office; its password is told as long as it is not changed."""
    if await users.list_users(database):
        return
    # The first process that starts on this store chooses the password, and all others read it.
    chosen = show_password(make_password()).encode()
    password = await add_sealed_setting(database, keyring, OFFICE_PASSWORD, chosen)
    user_id, password_hash = make_id(), hash_password(Secret(password.decode()))
    user = User(id=user_id, name=ADMINISTRATOR, created_at=now, password_hash=password_hash)
    await users.insert_user(database, user, [Grant(user_id=user_id, role=Role.PLATFORM)])


async def _make_tenant(database: Database, keyring: Keyring, now: Instant) -> Tenant:
    merchant = Merchant(id=MerchantId(make_id()), name="Sandbox merchant", created_at=now)
    strict = _make_channel(merchant, "Sandbox", now, is_lenient=False)
    lenient = _make_channel(merchant, "Sandbox lenient", now, is_lenient=True)
    credential = make_credential(merchant.id, keyring, now).credential
    await merchants.insert_merchant(database, merchant)
    await merchants.insert_channel(database, strict)
    await merchants.insert_channel(database, lenient)
    await merchants.insert_credential(database, credential)
    # With one row that takes everything, the merchant's id is an entity id too.
    row = DispatchRow(merchant_id=merchant.id, id=make_id(), position=1, channel_id=strict.id)
    await merchants.insert_dispatch_row(database, row)
    tenant = Tenant(entity_id=strict.id, lenient_entity_id=lenient.id, credential_id=credential.id)
    await _put_tenant(database, tenant)
    return tenant


async def find_tenant(database: Database) -> Tenant | None:
    written = await opening.get_setting(database, _SETTING)
    return msgspec.json.decode(written, type=Tenant) if written else None


async def welcome(database: Database, keyring: Keyring, tenant: Tenant, base_url: str) -> Welcome:
    credentials = await merchants.list_credentials(database)
    password = await find_sealed_setting(database, keyring, OFFICE_PASSWORD)
    own = next(credential for credential in credentials if credential.id == tenant.credential_id)
    return Welcome(
        front_url=f"{base_url}/",
        base_url=base_url,
        entity_id=tenant.entity_id,
        lenient_entity_id=tenant.lenient_entity_id,
        merchant_id=own.merchant_id,
        access_token=show_token(open_token(own, keyring)),
        shop_url=f"{base_url}{SHOP}",
        office=OfficeLogin(
            # Passkeys need a host with a name.
            url=base_url.replace("//127.0.0.1:", "//localhost:") + "/office",
            user=ADMINISTRATOR,
            password=None if password is None else password.decode(),
        ),
    )


async def make_token(database: Database, keyring: Keyring, entity_id: str | None, **wanted: Any) -> str | None:
    """Makes a wallet token for a channel, or for the tenant's strict one; None if the channel lacks its wallet keys."""
    request = TokenRequest(**wanted)
    tenant = await ensure_tenant(database, keyring, request.made_at)
    return await issuing.make_wallet_token(database, keyring, entity_id or tenant.entity_id, request)


def _make_channel(merchant: Merchant, name: str, now: Instant, *, is_lenient: bool) -> Channel:
    return Channel(
        id=ChannelId(make_id()),
        merchant_id=merchant.id,
        name=name,
        created_at=now,
        is_lenient=is_lenient,
        creditor=TEST_CREDITOR,
    )
