"""Accounts that are charged: cards, tokens, bank and virtual accounts, and the keys that open wallets.

Nothing is sealed or opened here.
"""

from datetime import date

import msgspec

from tollgate.values import ChannelId, Instant, Secret

BIN_LENGTH = 6
LAST_DIGITS = 4


class CardAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A card in clear, alive only between the request and the acquirer."""

    number: Secret
    expiry_month: str
    expiry_year: str
    holder: str | None = None
    cvv: Secret | None = None
    number_type: str = "PAN"
    cryptogram: Secret | None = None
    """The proof for one payment, made by the device that has this number."""
    wallet: str | None = None
    """The wallet that it came from."""


class TokenAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A number that stands for a card, issued by a network or by somebody else."""

    number: Secret
    type: str
    expiry_month: str | None = None
    expiry_year: str | None = None
    cryptogram: Secret | None = None
    dtvc: Secret | None = None


class BankAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An account at a bank; with a direct debit it has an IBAN, with a transfer often nothing but a country."""

    holder: str | None = None
    iban: Secret | None = None
    number: Secret | None = None
    bic: str | None = None
    bank_code: str | None = None
    bank_name: str | None = None
    country: str | None = None
    mandate_id: str | None = None
    signed_on: date | None = None


class VirtualAccount(msgspec.Struct, frozen=True, kw_only=True):
    """The shopper's account at a provider; most providers ask for it on their own page."""

    account_id: str | None = None


Instrument = CardAccount | TokenAccount | BankAccount | VirtualAccount


class CardSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a card that may be stored in clear and shown to the merchant."""

    bin: str
    last_digits: str
    expiry_month: str
    expiry_year: str
    holder: str | None = None

    @property
    def expiry(self) -> tuple[str, str]:
        return self.expiry_year, self.expiry_month


class OpenedCard(msgspec.Struct, frozen=True, kw_only=True):
    """A card that came inside a wallet's token."""

    account: CardAccount
    card_summary: CardSummary
    network: str | None
    """The brand that its number shows."""
    eci: str | None = None


def make_card_summary(number: str, card: CardAccount) -> CardSummary:
    """The caller reveals the number, because revealing is the vault's and the connectors' right."""
    return CardSummary(
        bin=number[:BIN_LENGTH],
        last_digits=number[-LAST_DIGITS:],
        expiry_month=card.expiry_month,
        expiry_year=card.expiry_year,
        holder=card.holder,
    )


class SigningKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """A key with which a wallet's provider vouches for its messages."""

    key: bytes
    """The subjectPublicKeyInfo, as in a certificate."""
    expires_at: Instant | None = None


class WalletPublic(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The public part of a key: its owner, and the certificates or keys that are trusted."""

    key_hash: bytes = b""
    """SHA-256 of the public half, by which a token may name the key that it was made for."""
    recipient: str = ""
    """The recipient of tokens: a merchant identifier, or `gateway:...` or `merchant:...`."""
    gateway_merchant: str | None = None
    """The merchant whose tokens this channel takes, if one key serves many merchants."""
    roots: tuple[str, ...] = ()
    """Certificates, as PEM, in one of which the chain of a signature has to end."""
    signing_keys: tuple[SigningKey, ...] = ()
    """Keys, by one of which an intermediate signing key has to be signed."""


class WalletKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key with which a channel opens the tokens of one wallet."""

    id: str
    channel_id: ChannelId
    wallet: str
    created_at: Instant
    public: WalletPublic
    sealed_key: bytes


class OpenedWallet(msgspec.Struct, frozen=True):
    """The contents of an authentic token."""

    card: OpenedCard
    unique: str
    """A mark that is the same for every copy of one token, however it is spelled, and for no other token."""
