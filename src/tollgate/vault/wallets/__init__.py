"""Mobile wallets: their keys are sealed here and their tokens opened. Which keys a channel has, the store knows."""

from tollgate.vault.wallets.door import make_wallet_key, name_wallet_key_owner, open_wallet_token
from tollgate.vault.wallets.failure import WalletKeyError, WalletTokenError

__all__ = ["WalletKeyError", "WalletTokenError", "make_wallet_key", "name_wallet_key_owner", "open_wallet_token"]
