"""Mobile wallets: the keys of channels are sealed here, and wallet tokens are opened with them."""
