"""Records of replays: who asked for which events to be delivered again, and how many there were.

The deliveries are queued elsewhere.
"""

import msgspec

from tollgate.store.codec import Codec
from tollgate.store.schema import replays
from tollgate.values import Instant, MerchantId


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    merchant_id: MerchantId
    webhook_id: str
    requested_at: Instant
    requested_by: str
    filter: str
    """JSON."""
    deliveries: int


REPLAYS = Codec(replays, Replay)

insert_replay_writes = REPLAYS.insert()
list_replays = REPLAYS.make_list("requested_at", "id")
