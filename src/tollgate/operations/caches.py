"""Merchants, card ranges and countries in memory. What is in the store is read here and never written."""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from hmac import compare_digest
from typing import TypeVar

import msgspec

from tollgate.catalog import risk_rows, wallets
from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.connectors.threeds import exchanges
from tollgate.operations import settings
from tollgate.operations.dispatch import converse
from tollgate.payments import risk, risk_evaluation
from tollgate.payments.accounts import CardAccount, WalletKey, WalletPublic
from tollgate.payments.dispatching import DispatchRow
from tollgate.payments.merchants import AcquirerTerms, Channel, Credential, FurtherAccount, Merchant, ThreeDsTerms
from tollgate.payments.webhooks import KEEPING, Webhook
from tollgate.store import geography, risk_lists
from tollgate.store import risk as store_risk
from tollgate.store.database import Database
from tollgate.store.merchants import get_merchants_version, list_wallet_keys, load_merchants
from tollgate.store.webhooks import list_all_webhooks
from tollgate.values import ChannelId, Instant, MerchantId, RandomBytes, Secret, make_node_name, system_random_bytes
from tollgate.vault.keyring import Keyring
from tollgate.vault.tokens import hash_kept_token, hash_token
from tollgate.wire import Wire

ACQUIRER_SECRETS = "acquirer/"
"""The secrets of an acquirer account are sealed settings: this, the account, a slash and the name of the secret."""


def make_acquirer_account(channel: Channel, terms: AcquirerTerms, secrets: Mapping[str, Secret]) -> AcquirerAccount:
    known = channel.three_ds or ThreeDsTerms()
    return AcquirerAccount(
        id=channel.first_account_id,
        connector=terms.connector,
        merchant_name=channel.name,
        merchant_number=known.acquirer_merchant_id,
        acquirer_number=known.acquirer_bin,
        terminal_id=terms.terminal_id,
        category=known.mcc,
        country=known.country,
        secrets=secrets,
        tls=terms.tls,
    )


_NOTHING: Mapping[risk_rows.Attribute, int] = {}
_Row = TypeVar("_Row")
_Owner = TypeVar("_Owner")


def _group(rows: Iterable[_Row], get_owner: Callable[[_Row], _Owner]) -> dict[_Owner, tuple[_Row, ...]]:
    found: dict[_Owner, list[_Row]] = {}
    for row in rows:
        found.setdefault(get_owner(row), []).append(row)
    return {owner: tuple(some) for owner, some in found.items()}


class MerchantCache:
    """Merchants, channels and credentials in memory; every process refreshes its own within seconds of a change."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        self._keyring = keyring
        """Finds tokens that merchants brought from other hosts; without it there are none."""
        self._version = -1
        self._channels: dict[str, Channel] = {}
        self._credentials: dict[bytes, Credential] = {}
        self._wallet_keys: dict[tuple[ChannelId, str], tuple[WalletKey, ...]] = {}
        self._merchants: dict[str, frozenset[MerchantId]] = {}
        self._webhooks: dict[MerchantId, tuple[Webhook, ...]] = {}
        self._rows: dict[str, Merchant] = {}
        self._further: dict[ChannelId, tuple[FurtherAccount, ...]] = {}
        self._views: dict[ChannelId, tuple[tuple[Channel, ...], tuple[Channel, ...]]] = {}
        """The channels with further accounts, as their open accounts and as all of them have them."""
        self._accounts: dict[str, AcquirerAccount] = {}
        self._dispatch_rows: dict[MerchantId, tuple[DispatchRow, ...]] = {}
        self._risk_rules: dict[MerchantId, tuple[risk.Rule, ...]] = {}
        self._risk_entries: dict[MerchantId, tuple[risk.Entry, ...]] = {}
        self._compiled: dict[ChannelId, risk_evaluation.CompiledRules] = {}
        self._counted: dict[MerchantId, Mapping[risk_rows.Attribute, int]] = {}

    @property
    def version(self) -> int:
        """Returns the number of the change up to which the memory is in step with the store."""
        return self._version

    async def refresh(self, database: Database) -> bool:
        """Returns true when something changed."""
        if await get_merchants_version(database) == self._version:
            return False
        rows = await load_merchants(database)
        # The keys are read after the version, so that a key which comes meanwhile is read again.
        wallet_keys, webhooks = await list_wallet_keys(database), await list_all_webhooks(database)
        rules, entries = await store_risk.list_all_rules(database), await risk_lists.list_all_entries(database)
        secrets = await self._open_secrets(database)
        # Nothing is awaited from here on, so that no payment meets an account whose secrets are not there yet.
        self.fill(rows.channels, rows.credentials, wallet_keys, webhooks)
        self._further = _group(rows.accounts, lambda row: row.channel_id)
        self._views = {
            channel_id: (self._make_views(channel, closed=False), self._make_views(channel, closed=True))
            for channel_id in self._further
            if (channel := self._channels.get(channel_id)) is not None
        }
        self._dispatch_rows = _group(rows.dispatch_rows, lambda row: row.merchant_id)
        self.fill_risk(rules, entries)
        self._fill_accounts(secrets)
        self._rows = {merchant.id: merchant for merchant in rows.merchants}
        self._version = rows.version
        return True

    def fill(
        self,
        channels: Iterable[Channel],
        credentials: Iterable[Credential],
        wallet_keys: Iterable[WalletKey] = (),
        webhooks: Iterable[Webhook] = (),
    ) -> None:
        self._channels = {channel.id: channel for channel in channels}
        self._credentials = {
            credential.token_hash: credential for credential in credentials if credential.revoked_at is None
        }
        self._merchants = {}
        for merchant_id in {channel.merchant_id for channel in self._channels.values()}:
            node = make_node_name(merchant_id)
            self._merchants[node] = self._merchants.get(node, frozenset()) | {merchant_id}
        self._wallet_keys = _group(wallet_keys, lambda key: (key.channel_id, key.wallet))
        self._webhooks = _group((each for each in webhooks if each.state in KEEPING), lambda each: each.merchant_id)

    def fill_risk(self, rules: Iterable[risk.Rule], entries: Iterable[risk.Entry] = ()) -> None:
        self._risk_rules = _group(rules, lambda rule: rule.merchant_id)
        self._risk_entries = _group(entries, lambda entry: entry.merchant_id)
        self._compiled = {}
        self._counted = {
            merchant_id: risk_evaluation.compile_rules(some).windows_s for merchant_id, some in self._risk_rules.items()
        }

    def get_risk_rules(self, channel: Channel) -> risk_evaluation.CompiledRules:
        """Returns the rules and lists that judge the payments of a channel."""
        found = self._compiled.get(channel.id)
        if found is None:
            own = self._risk_rules.get(channel.merchant_id, ())
            found = risk_evaluation.compile_rules(
                [rule for rule in own if rule.channel_id in ("", channel.id)],
                self.list_risk_entries(channel.merchant_id),
                self.get_counted(channel.merchant_id),
            )
            self._compiled[channel.id] = found
        return found

    def list_risk_entries(self, merchant_id: MerchantId) -> tuple[risk.Entry, ...]:
        return self._risk_entries.get(merchant_id, ())

    def get_counted(self, merchant_id: MerchantId) -> Mapping[risk_rows.Attribute, int]:
        """Returns the attributes that any rule of a merchant counts, with the longest window of each in seconds."""
        return self._counted.get(merchant_id, _NOTHING)

    async def _open_secrets(self, database: Database) -> dict[str, dict[str, Secret]]:
        """Opens the secrets of acquirer accounts; a process without keys pays nothing and needs none."""
        secrets: dict[str, dict[str, Secret]] = {}
        if self._keyring is not None:
            for name, value in await settings.list_sealed_settings(database, self._keyring, ACQUIRER_SECRETS):
                account_id, _, secret = name.removeprefix(ACQUIRER_SECRETS).partition("/")
                secrets.setdefault(account_id, {})[secret] = Secret(value.decode())
        return secrets

    def _fill_accounts(self, secrets: Mapping[str, Mapping[str, Secret]]) -> None:
        self._accounts = {
            each.first_account_id: make_acquirer_account(each, each.acquirer, secrets.get(each.first_account_id, {}))
            for channel in self._channels.values()
            for each in self.list_accounts(channel, closed=True)
            if each.acquirer is not None
        }

    def get_acquirer_account(self, account_id: str) -> AcquirerAccount:
        return self._accounts[account_id]

    def list_accounts(self, channel: Channel, *, closed: bool = False) -> tuple[Channel, ...]:
        """Lists the channel as each of its acquirer accounts would have it, beginning with its first account."""
        if channel.id not in self._further:
            return (channel,)
        known = self._views.get(channel.id)
        # Whoever saves a channel asks about one that is not in the memory yet.
        return known[closed] if known and known[0][0] is channel else self._make_views(channel, closed=closed)

    def _make_views(self, channel: Channel, *, closed: bool) -> tuple[Channel, ...]:
        further = self._further.get(channel.id, ())
        return (channel, *[each.apply_to(channel) for each in further if closed or not each.is_closed])

    def list_views(self, given_id: str) -> list[Channel]:
        """Lists the channels as the accounts of an id would have them; that of a channel names its first account."""
        return [
            view
            for channel in self._channels.values()
            for view in self.list_accounts(channel, closed=True)
            if given_id == view.first_account_id or (view is channel and given_id == channel.id)
        ]

    def find_further_account(self, account_id: str) -> FurtherAccount | None:
        return next((each for rows in self._further.values() for each in rows if each.id == account_id), None)

    def list_further_accounts(self, channel_id: ChannelId) -> tuple[FurtherAccount, ...]:
        return self._further.get(channel_id, ())

    def list_dispatch_rows(self, merchant_id: MerchantId) -> tuple[DispatchRow, ...]:
        """Returns the rows of a merchant in their order; none where it has no dispatching."""
        return self._dispatch_rows.get(merchant_id, ())

    def list_webhooks(self, merchant_id: MerchantId) -> tuple[Webhook, ...]:
        """Returns the endpoints for which events of a merchant are kept."""
        return self._webhooks.get(merchant_id, ())

    def find_webhook(self, merchant_id: MerchantId, webhook_id: str) -> Webhook | None:
        return next((each for each in self.list_webhooks(merchant_id) if each.id == webhook_id), None)

    def find_merchant(self, merchant_id: str) -> Merchant | None:
        return self._rows.get(merchant_id)

    def list_merchants(self) -> list[Merchant]:
        return sorted(self._rows.values(), key=lambda merchant: merchant.name.lower())

    def list_channels(self, merchant_id: str) -> list[Channel]:
        own = [channel for channel in self._channels.values() if channel.merchant_id == merchant_id]
        return sorted(own, key=lambda channel: (channel.created_at, channel.id))

    def find_channel(self, channel_id: str) -> Channel | None:
        return self._channels.get(channel_id)

    def get_channel(self, channel_id: ChannelId) -> Channel:
        return self._channels[channel_id]

    def list_merchants_of(self, node: str) -> frozenset[MerchantId]:
        """Lists the merchants whose checkouts have ids of this node: one, but for an accident among very many."""
        return self._merchants.get(node, frozenset())

    def get_wallet_keys(self, channel_id: ChannelId, wallet: str) -> tuple[WalletKey, ...]:
        return self._wallet_keys.get((channel_id, wallet), ())

    def list_wallets(self, channel_id: ChannelId) -> dict[str, WalletPublic]:
        """Returns what is public about the newest key of each wallet of a channel."""
        keys = {wallet.value: self.get_wallet_keys(channel_id, wallet) for wallet in wallets.Wallet}
        return {wallet: found[-1].public for wallet, found in keys.items() if found}

    def find_credential(self, token: Secret) -> Credential | None:
        """Finds a credential by the hash of its token, compared in constant time."""
        return self._find_hashed(hash_token(token)) or (
            self._find_hashed(hash_kept_token(token, self._keyring)) if self._keyring else None
        )

    def _find_hashed(self, hashed: bytes) -> Credential | None:
        credential = self._credentials.get(hashed)
        return credential if credential is not None and compare_digest(credential.token_hash, hashed) else None


class _Ranges(msgspec.Struct, frozen=True):
    ranges: tuple[exchanges.CardRange, ...] | None
    """The ranges; None where the directory server never answered."""
    asks_at: Instant
    """The time after which it is asked again."""


class CardRangeCache:
    """The card ranges of each directory server in memory; every process has its own."""

    def __init__(self, random_bytes: RandomBytes = system_random_bytes) -> None:
        self._random_bytes = random_bytes
        self._known: dict[str, _Ranges] = {}

    async def find(
        self, address: str, wire: Wire, account: CardAccount, *, wall_now: Instant, timeout_s: float
    ) -> exchanges.CardRange | None:
        """Returns None where the directory server says that the card takes no part.

        A directory server that does not answer is asked about the card itself, and then its silence is a result.
        """
        known = self._known.get(address)
        if known is None or known.asks_at < wall_now:
            known = await self._ask(wire, known, wall_now, timeout_s)
            self._known[address] = known
        return exchanges.ANY_CARD if known.ranges is None else exchanges.find_range(known.ranges, account)

    async def _ask(self, wire: Wire, known: _Ranges | None, wall_now: Instant, timeout_s: float) -> _Ranges:
        """Asks for the ranges; after a failure it pauses, because every payment would wait for the server."""
        question = exchanges.ask_ranges(exchanges.make_server_id(self._random_bytes))
        ranges = await converse(question, wire, timeout_s=timeout_s, label="card ranges request")
        if ranges is None:
            return _Ranges(known.ranges if known else None, wall_now + LIMITS.card_ranges_pause)
        return _Ranges(ranges, wall_now + LIMITS.card_ranges_lifetime)


class IpPlace(msgspec.Struct, frozen=True):
    """The part of an imported range that payments need."""

    country: str
    """Two letters; "" where it is not known."""
    is_proxy: bool


_Found = TypeVar("_Found", IpPlace, str)


class CountryCache:
    """The countries of the addresses and cards that were looked up last; every process has its own."""

    def __init__(self) -> None:
        self._editions = (0, 0)
        self._places: dict[str, IpPlace | None] = {}
        self._countries: dict[str, str | None] = {}

    @property
    def has_any(self) -> bool:
        """Tells whether anything was imported."""
        return self._editions != (0, 0)

    async def refresh(self, database: Database) -> None:
        """Forgets everything if a file was imported since."""
        editions = (
            await geography.IP_RANGES.get_current(database),
            await geography.BIN_COUNTRIES.get_current(database),
        )
        if editions != self._editions:
            self._editions, self._places, self._countries = editions, {}, {}

    async def find_ip_place(self, database: Database, ip: str) -> IpPlace | None:
        if not self._editions[0]:
            return None
        known = self._places
        if ip not in known:
            address = find_address_bytes(ip)
            found = None if address is None else await geography.find_ip_range(database, address)
            return _remember(known, ip, None if found is None else IpPlace(found.country, found.is_proxy))
        return _remember(known, ip, known[ip])

    async def find_bin_country(self, database: Database, digits: str) -> str | None:
        if not self._editions[1]:
            return None
        known, digits = self._countries, digits[: geography.BIN_LENGTHS[0]]
        if digits not in known:
            found = await geography.find_bin_country(database, digits)
            return _remember(known, digits, None if found is None else found.country)
        return _remember(known, digits, known[digits])


def _remember(known: dict[str, _Found | None], name: str, found: _Found | None) -> _Found | None:
    """Puts an entry last, and drops the first one if there are too many."""
    known.pop(name, None)
    if len(known) >= LIMITS.countries_cached_max:
        del known[next(iter(known))]
    known[name] = found
    return found


def find_address_bytes(text: str) -> bytes | None:
    """Returns the sixteen bytes of an address, an IPv4 address as IPv6 has it; None for what is no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return bytes(10) + b"\xff\xff" + address.packed if address.version == 4 else address.packed
