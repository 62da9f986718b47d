"""Merchants, their channels and their credentials. The annotation of a channel's member is its flag of the command."""

from enum import StrEnum
from typing import Annotated, get_origin, get_type_hints

import msgspec

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.scopes import Scope
from tollgate.payments.routing import Strategy
from tollgate.values import ChannelId, Instant, MerchantId


class Merchant(msgspec.Struct, frozen=True, kw_only=True):
    id: MerchantId
    name: str
    created_at: Instant


class Form(StrEnum):
    """The form of a value that an operator types."""

    TEXT = "text"
    SWITCH = "switch"
    COUNT = "count"
    WEB_ADDRESS = "web address"
    CARD_ADDRESS = "web address that card data is sent to"
    ACQUIRER_ADDRESS = "address of an acquirer"
    IBAN = "IBAN"
    BIC = "BIC"
    CREDITOR_ID = "creditor identifier"
    CATEGORY = "merchant category"
    COUNTRY = "country"
    SCHEMES = "schemes of apps"
    CONNECTOR = "connector"
    FILE = "file"
    TERMINAL = "terminal"
    PLACE = "number from 1"
    STRATEGY = "strategy"
    DOMAINS = "domains"
    SHARE = "share"


class ChannelFlag(msgspec.Struct, frozen=True):
    """The annotation of a member that an operator sets by a flag of `tollgate channel`."""

    names: str
    """A switch has two: `--lenient/--strict`."""
    text: str
    form: Form = Form.TEXT
    group: str = ""
    """The member of the channel that holds the annotated one, if the channel itself does not."""
    member: str = ""

    @property
    def name(self) -> str:
        return self.names.partition("/")[0]

    @property
    def parameter(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")


class Creditor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The party that collects direct debits and pays credits out of a channel, as the banks know it."""

    name: Annotated[str, ChannelFlag("--creditor-name", "Who collects direct debits, as the banks know it.")]
    iban: Annotated[str, ChannelFlag("--creditor-iban", "The account that collects and pays.", Form.IBAN)]
    bic: Annotated[str, ChannelFlag("--creditor-bic", "Its bank; found by the IBAN where a list has it.", Form.BIC)]
    identifier: Annotated[
        str, ChannelFlag("--creditor-id", "The identifier under which mandates are signed.", Form.CREDITOR_ID)
    ]


class ThreeDsTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The terms under which a channel authenticates its shoppers."""

    test_url: Annotated[
        str | None,
        ChannelFlag(
            "--three-ds-test-url", "The directory server's test system, for testMode=EXTERNAL.", Form.CARD_ADDRESS
        ),
    ] = None
    live_url: Annotated[
        str | None, ChannelFlag("--three-ds-live-url", "The directory server of a live host.", Form.CARD_ADDRESS)
    ] = None
    acquirer_bin: Annotated[
        str, ChannelFlag("--acquirer-bin", "The acquirer's number, told to it and to the directory server.")
    ] = "000000"
    acquirer_merchant_id: Annotated[
        str, ChannelFlag("--acquirer-merchant-id", "The merchant's number at the acquirer.")
    ] = ""
    requestor_id: Annotated[str, ChannelFlag("--requestor-id", "The merchant's number at the directory server.")] = ""
    requestor_name: Annotated[str, ChannelFlag("--requestor-name", "Its name there.")] = ""
    requestor_url: Annotated[str, ChannelFlag("--requestor-url", "Its web address there.", Form.WEB_ADDRESS)] = ""
    mcc: Annotated[
        str, ChannelFlag("--merchant-category", "Four digits, told to acquirer and directory server.", Form.CATEGORY)
    ] = ""
    """A payment may name another category."""
    country: Annotated[
        str, ChannelFlag("--merchant-country", "Two letters, told to acquirer and directory server.", Form.COUNTRY)
    ] = ""
    server_reference: Annotated[
        str, ChannelFlag("--three-ds-server-reference", "The number under which the schemes certified this host.")
    ] = ""
    is_required: Annotated[
        bool, ChannelFlag("--require-3ds/--allow-no-3ds", "Refuse unauthenticated cards.", Form.SWITCH)
    ] = False


class TokenTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The token vault that issues the network tokens of a channel's registered cards."""

    test_url: Annotated[
        str | None,
        ChannelFlag("--token-test-url", "The token vault's test system, for testMode=EXTERNAL.", Form.CARD_ADDRESS),
    ] = None
    live_url: Annotated[
        str | None, ChannelFlag("--token-live-url", "The networks' token vault of a live host.", Form.CARD_ADDRESS)
    ] = None
    requestor_id: Annotated[str, ChannelFlag("--token-requestor-id", "The merchant's number at the token vault.")] = ""


class TlsTerms(msgspec.Struct, frozen=True):
    """The files by which a channel and its acquirer trust each other; their names are empty where there are none."""

    ca_file: str = ""
    certificate_file: str = ""


class AcquirerTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The protocol of an acquirer account for cards, the terms by which both sides know each other, and what it costs.

    The channel's own terms are those of its first account.
    """

    connector: Annotated[
        ConnectorName, ChannelFlag("--acquirer", "The acquirer's protocol: json, iso8583 or stripe.", Form.CONNECTOR)
    ] = ConnectorName.JSON
    terminal_id: Annotated[
        str, ChannelFlag("--terminal-id", "The terminal's number at the acquirer, up to 8 characters.", Form.TERMINAL)
    ] = ""
    ca_file: Annotated[
        str,
        ChannelFlag(
            "--acquirer-ca", "Trust only the authorities in this PEM file of the folder certificates.", Form.FILE
        ),
    ] = ""
    certificate_file: Annotated[
        str,
        ChannelFlag("--acquirer-certificate", "A PEM file of the same folder: client certificate and key.", Form.FILE),
    ] = ""
    priority: Annotated[
        int, ChannelFlag("--acquirer-priority", "Accounts with 1 are used before those with 2.", Form.PLACE)
    ] = 1
    weight: Annotated[
        int, ChannelFlag("--acquirer-weight", "Its share among accounts of the same priority.", Form.COUNT)
    ] = 100
    cost_fixed: Annotated[
        int, ChannelFlag("--acquirer-cost-fixed", "What a charge costs, in hundredths of its currency.", Form.COUNT)
    ] = 0
    cost_rate: Annotated[
        int, ChannelFlag("--acquirer-cost-rate", "What a charge costs besides, in hundredths of a percent.", Form.COUNT)
    ] = 0

    @property
    def tls(self) -> TlsTerms:
        return TlsTerms(self.ca_file, self.certificate_file)


class RoutingTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The way in which a channel chooses among acquirer accounts of the same priority."""

    strategy: Annotated[
        Strategy,
        ChannelFlag("--routing", "The strategy that chooses an account: weight, success or cost.", Form.STRATEGY),
    ] = Strategy.WEIGHT
    exploration: Annotated[
        int,
        ChannelFlag(
            "--exploration-share",
            "The percentage of payments that the strategy success sends by weight, to learn from them.",
            Form.SHARE,
        ),
    ] = 5


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """One entity id: the settings under which a merchant's requests are read and routed."""

    id: ChannelId
    merchant_id: MerchantId
    name: str
    created_at: Instant
    is_lenient: Annotated[
        bool, ChannelFlag("--lenient/--strict", "Take what public clients really send.", Form.SWITCH)
    ] = False
    requires_cvv: Annotated[
        bool, ChannelFlag("--require-cvv/--allow-no-cvv", "Refuse cards without CVV.", Form.SWITCH)
    ] = False
    is_closed: Annotated[
        bool, ChannelFlag("--closed/--open", "Refuse or take requests on this channel.", Form.SWITCH)
    ] = False
    test_url: Annotated[
        str | None,
        ChannelFlag("--test-url", "The acquirer's own test system, for testMode=EXTERNAL.", Form.ACQUIRER_ADDRESS),
    ] = None
    live_url: Annotated[
        str | None, ChannelFlag("--live-url", "The acquirer of a live host.", Form.ACQUIRER_ADDRESS)
    ] = None
    rebills_max: Annotated[int, ChannelFlag("--rebills-max", "How often one payment may be rebilled.", Form.COUNT)] = 98
    creditor: Creditor | None = None
    three_ds: ThreeDsTerms | None = None
    reuses_registrations: Annotated[
        bool,
        ChannelFlag(
            "--reuse-registrations/--new-registrations",
            "Answer an account that is registered already with its registration.",
            Form.SWITCH,
        ),
    ] = False
    uses_network_tokens: Annotated[
        bool,
        ChannelFlag(
            "--network-tokens/--no-network-tokens", "Charge registered cards by tokens of their networks.", Form.SWITCH
        ),
    ] = False
    token_terms: TokenTerms | None = None
    return_schemes: Annotated[
        tuple[str, ...],
        ChannelFlag(
            "--return-schemes",
            "Schemes of the merchant's apps for shopperResultUrl, as in myapp,com.example.shop; empty for none.",
            Form.SCHEMES,
        ),
    ] = ()
    acquirer: AcquirerTerms | None = None
    account_id: str | None = None
    """The id of its first acquirer account; None while that is the channel's own."""
    routing: RoutingTerms | None = None
    domains: Annotated[
        tuple[str, ...],
        ChannelFlag(
            "--domains",
            "Domains that may show the payment form and get shoppers and notifications; empty for all.",
            Form.DOMAINS,
        ),
    ] = ()

    @property
    def first_account_id(self) -> str:
        return self.account_id or self.id


class FurtherAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An acquirer account of a channel beside its first one.

    Its protocol, addresses and numbers never change, because later messages about its payments must reach it. A first
    account whose terms were changed is kept as one that is closed.
    """

    id: str
    merchant_id: MerchantId
    channel_id: ChannelId
    name: str
    created_at: Instant
    is_closed: bool = False
    """It takes no new payments; follow-ups of its payments still reach it."""
    test_url: str | None = None
    live_url: str | None = None
    merchant_number: str = ""
    acquirer_number: str = ThreeDsTerms().acquirer_bin
    terms: AcquirerTerms = AcquirerTerms()

    def apply_to(self, channel: Channel) -> Channel:
        """Returns the channel as it would be if this account were its first one."""
        return msgspec.structs.replace(
            channel,
            account_id=self.id,
            test_url=self.test_url,
            live_url=self.live_url,
            acquirer=self.terms,
            three_ds=msgspec.structs.replace(
                channel.three_ds or ThreeDsTerms(),
                acquirer_merchant_id=self.merchant_number,
                acquirer_bin=self.acquirer_number,
            ),
        )


TERMS: dict[str, type[Creditor | ThreeDsTerms | TokenTerms | AcquirerTerms | RoutingTerms]] = {
    "acquirer": AcquirerTerms,
    "routing": RoutingTerms,
    "creditor": Creditor,
    "three_ds": ThreeDsTerms,
    "token_terms": TokenTerms,
}
"""The members of a channel whose flags are set together."""


CHANNEL_FLAGS = tuple(
    msgspec.structs.replace(hint.__metadata__[0], group=group, member=member)
    for group, holder in (("", Channel), *TERMS.items())
    for member, hint in get_type_hints(holder, include_extras=True).items()
    if get_origin(hint) is Annotated
)


ACCOUNT_FLAGS = tuple(
    flag
    for flag in CHANNEL_FLAGS
    if flag.group == "acquirer"
    or (flag.group, flag.member)
    in {("", "test_url"), ("", "live_url"), ("three_ds", "acquirer_merchant_id"), ("three_ds", "acquirer_bin")}
)
"""The flags of a channel that a further account has by itself."""
IDENTITY_FLAGS = frozenset(
    flag.parameter for flag in ACCOUNT_FLAGS if flag.group != "acquirer" or flag.member in {"connector", "terminal_id"}
)
"""Those that must stay for later messages about a payment to be understood."""


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """An access token as it is stored: hashed to be found, sealed to be shown."""

    id: str
    merchant_id: MerchantId
    user_id: str
    token_hash: bytes
    sealed_token: bytes
    created_at: Instant
    revoked_at: Instant | None = None
    label: str = ""
    scopes: tuple[Scope, ...] = ()
    """Empty for a token that may be used for everything."""
    channel_ids: tuple[ChannelId, ...] = ()
    """Empty for a token that reaches all channels of its merchant."""
    expires_at: Instant | None = None
    """The business time from which it is refused."""

    def is_expired(self, now: Instant) -> bool:
        return self.expires_at is not None and now >= self.expires_at
