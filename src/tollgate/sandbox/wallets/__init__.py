"""The test host's own provider of mobile wallets: its keys, and tokens that really open. Live hosts never import it."""

from tollgate.sandbox.wallets.issuing import ensure_wallets, make_wallet_token
from tollgate.sandbox.wallets.request import TokenRequest

__all__ = ["TokenRequest", "ensure_wallets", "make_wallet_token"]
