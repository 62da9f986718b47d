"""Merchants and channels: added and changed by people of the back office. What a setting may be is in `contract`."""

from collections.abc import Mapping

from tollgate.catalog import codes, results
from tollgate.catalog.connectors import ConnectorName
from tollgate.contract import channels
from tollgate.operations import acquirer_accounts
from tollgate.operations.app import App
from tollgate.payments.merchants import CHANNEL_FLAGS, Channel, Form, Merchant
from tollgate.payments.routing import Strategy
from tollgate.store import merchants
from tollgate.values import ChannelId, Conflict, Fault, MerchantId, is_id, make_id

_ROUTING = frozenset({Form.CARD_ADDRESS, Form.ACQUIRER_ADDRESS, Form.CONNECTOR, Form.FILE})
_NAME_LENGTH_MAX = 128


async def add_merchant(app: App, name: str, merchant_id: str = "") -> Merchant:
    """Adds a merchant; with an id, the one that it has on another host."""
    _check_new(name, merchant_id, "id")
    if merchant_id and any(each.id == merchant_id for each in await merchants.list_merchants(app.database)):
        raise results.make_invalid(Fault("id", "is that of another merchant"))
    made_id = MerchantId(merchant_id or make_id(app.random_bytes))
    new = Merchant(id=made_id, name=name, created_at=app.clock.now())
    await merchants.insert_merchant(app.database, new)
    await app.merchants.refresh(app.database)
    return new


async def add_channel(app: App, merchant_id: MerchantId, name: str, entity_id: str = "") -> Channel:
    """Adds a channel; with an entity id, the one that it has on another host."""
    _check_new(name, entity_id, "entity_id")
    if entity_id and any(each.id == entity_id for each in await merchants.list_channels(app.database)):
        raise results.make_invalid(Fault("entity_id", "is that of another channel"))
    made_id = ChannelId(entity_id or make_id(app.random_bytes))
    new = Channel(id=made_id, merchant_id=merchant_id, name=name, created_at=app.clock.now())
    await merchants.insert_channel(app.database, new)
    await app.merchants.refresh(app.database)
    return new


def _check_new(name: str, given_id: str, id_name: str) -> None:
    faults = []
    if not 1 <= len(name) <= _NAME_LENGTH_MAX or not name.isprintable():
        faults.append(Fault("name", f"must have 1 to {_NAME_LENGTH_MAX} printable characters"))
    if given_id and not is_id(given_id):
        faults.append(Fault(id_name, "must have 32 digits of 0-9 and a-f"))
    if faults:
        raise results.make_invalid(*faults)


def read_channel_changes(channel: Channel, sent: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that a form changes, by their parameters; what was sent as it is, is no change."""
    texts = {flag.parameter: channels.get_channel_value(channel, flag) for flag in CHANNEL_FLAGS}
    return {
        name: sent[name]
        for name, value in texts.items()
        if name in sent
        and sent[name] != channels.render_channel_value(value)
        # Of terms that the channel does not have, a switch is off, and others are what they are without the terms.
        and not (value is None and sent[name] in ("false", ConnectorName.JSON, Strategy.WEIGHT))
    }


def changes_routing(changes: Mapping[str, str]) -> bool:
    """Tells whether some of the changes decide where payments are sent, or whom the host trusts there."""
    return any(
        flag.parameter in changes
        for flag in CHANNEL_FLAGS
        if flag.form in _ROUTING or flag.group in ("acquirer", "routing")
    )


async def change_channel(app: App, channel: Channel, changes: Mapping[str, str]) -> Channel:
    """Changes the settings of a channel, which count from the next request on."""
    changed = acquirer_accounts.apply_changes(app, channel, changes)
    new_id, now = make_id(app.random_bytes), app.clock.now()
    saving = acquirer_accounts.save_channel(app.database, app.keyring, channel, changed, new_id=new_id, now=now)
    if not await saving:
        raise Conflict(results.get_result(codes.REQUEST_IN_PROGRESS), acquirer_accounts.NOT_SAVED)
    await app.merchants.refresh(app.database)
    return changed
