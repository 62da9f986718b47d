"""The test host's own provider of mobile wallets: its keys, and tokens that really open. Live hosts never import it."""

from tollgate.sandbox.wallets.issuing import ensure_wallets, make_wallet_token
from tollgate.sandbox.wallets.wish import TokenWish

__all__ = ["TokenWish", "ensure_wallets", "make_wallet_token"]
