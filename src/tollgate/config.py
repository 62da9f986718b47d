"""The settings: each annotated member is a flag of `tollgate serve` and a TOLLGATE_* variable.

The annotation also says which values are sensible. What is built from them is decided in wiring.
"""

import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, get_type_hints
from urllib.parse import urlsplit

import msgspec


class Environment(StrEnum):
    TEST = "test"
    LIVE = "live"


class LogFormat(StrEnum):
    AUTO = "auto"
    JSON = "json"
    TERMINAL = "terminal"


class Sense(msgspec.Struct, frozen=True):
    """Tells sensible values of a row from others, and says in words which ones are."""

    expected: str
    accepts: Callable[[str], bool]


class Setting(msgspec.Struct, frozen=True):
    """The annotation of a member of the settings: what it is for, and which values it takes.

    The names of the flag and of the variable follow from the member's.
    """

    text: str
    sense: Sense
    member: str = ""

    @property
    def flag(self) -> str:
        return "--" + self.member.replace("_", "-")

    @property
    def variable(self) -> str:
        return "TOLLGATE_" + self.member.upper()

    def read(self, given: object) -> str:
        """Returns the value as text, or raises a ValueError that names the row and never the value.

        A value may contain a password, as the address of a database does.
        """
        text = ("true" if given else "false") if isinstance(given, bool) else str(given)
        if len(text) > _TEXT_MAX or not text.isprintable() or not self.sense.accepts(text):
            raise ValueError(f"{self.flag} (or {self.variable}) must be {self.sense.expected}")
        return text


_TEXT_MAX = 4096
_WHOLE = re.compile("-?[0-9]{1,12}")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*")
_POSTGRES = re.compile(r"postgres(ql)?://[^\s#]+")
_SQLITE = "sqlite:///"
PORT_MAX = 65_535


def _whole(least: int, most: int) -> Sense:
    return Sense(
        f"a whole number from {least} to {most}",
        lambda text: _WHOLE.fullmatch(text) is not None and least <= int(text) <= most,
    )


def _number(least: float, most: float) -> Sense:
    return Sense(
        f"a number from {least:g} to {most:g}",
        lambda text: _NUMBER.fullmatch(text) is not None and least <= float(text) <= most,
    )


def _choice(*values: str) -> Sense:
    return Sense(f"one of {', '.join(values)}", lambda text: text in values)


def _is_host(text: str) -> bool:
    if _is_network(text, ip_address):
        return True
    # A name whose last part is a number would be read as an address, and it is none.
    return len(text) <= 253 and _HOST_NAME.fullmatch(text) is not None and not text.rpartition(".")[2].isdigit()


def is_loopback(host: str) -> bool:
    """Tells whether a host to listen on is reached from this machine alone; of names only localhost counts."""
    return host == "localhost" or (_is_network(host, ip_address) and ip_address(host).is_loopback)


def _is_network(text: str, read: Callable[[str], object]) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _are_proxies(text: str) -> bool:
    networks = [part.strip() for part in text.split(",")]
    # A network without bits would trust everybody.
    return all(_is_network(each, ip_network) and ip_network(each).prefixlen > 0 for each in networks)


def _are_ports(text: str) -> bool:
    return all(_PORT.accepts(part.strip()) for part in text.split(","))


def is_web_address(text: str) -> bool:
    """Tells whether the text is http:// or https:// with a host, without user, query or fragment."""
    try:
        parts = urlsplit(text)
        is_complete = parts.scheme in ("http", "https") and parts.port != 0 and _is_host(parts.hostname or "")
    except ValueError:
        return False
    return is_complete and not any(mark in text for mark in "@?#\\") and text.isprintable() and " " not in text


def _is_database(text: str) -> bool:
    if text.startswith(_SQLITE):
        return not text.endswith("/")
    return _POSTGRES.fullmatch(text) is not None and all(0 < int(port) <= PORT_MAX for port in _list_ports(text))


def _is_standby(text: str) -> bool:
    # Of several hosts one would be measured, and another read.
    return not text.startswith(_SQLITE) and _is_database(text) and "," not in text.rpartition("@")[2]


def _is_redis(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.hostname) and parts.port != 0 if parts.scheme in ("redis", "rediss") else False
    except ValueError:
        return False
    return (is_complete or (parts.scheme == "unix" and len(parts.path) > 1)) and not any(mark in text for mark in " #")


def _list_ports(url: str) -> list[str]:
    """Returns the ports of a PostgreSQL address, which may name several hosts; what is no number counts as 0."""
    hosts = re.split("[/?]", url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2].split(",")
    ports = [host.rpartition("]")[2].partition(":") for host in hosts]
    return [port if _WHOLE.fullmatch(port) else "0" for _, colon, port in ports if colon]


_PATH = Sense("a path", lambda text: bool(text.strip()))
_PORT = _whole(1, PORT_MAX)
_SPARE_PORT = _whole(0, PORT_MAX)
_PORTS = Sense(f"ports from 1 to {PORT_MAX}, separated by commas", _are_ports)
_MONTHS = _whole(0, 1200)
_SWITCH = _choice("true", "false", "1", "0")
_HOST = Sense("an IP address or a host name", _is_host)
_DATABASE = Sense("sqlite:///FILE or postgresql://...", _is_database)
_STANDBY = Sense("postgresql://... with one host", _is_standby)
_REDIS = Sense("redis://HOST:PORT, rediss://HOST:PORT or unix:///SOCKET", _is_redis)
_PROXIES = Sense("an IP address or network, or several separated by commas", _are_proxies)
_WEB_ADDRESS = Sense("a web address, such as https://pay.example.com", is_web_address)
_THROTTLES = Sense(
    "written OPERATION=COUNT/SECONDS,... with operations of the throttle table", lambda text: "=" in text
)
_FOUR_EYES = Sense(
    "none, or actions such as refund=1000.00,token,record",
    lambda text: (
        re.fullmatch(r"[a-z_]+(=[0-9]{1,12}(\.[0-9]{2})?)?(,[a-z_]+(=[0-9]{1,12}(\.[0-9]{2})?)?)*", text) is not None
    ),
)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults are those of a laptop: a test host on loopback with an embedded database."""

    host: Annotated[str, Setting("Address to listen on.", _HOST)] = "127.0.0.1"
    port: Annotated[int, Setting("Port to listen on.", _PORT)] = 8080
    data: Annotated[str, Setting("Folder for the embedded database and, on a test host, the key file.", _PATH)] = "data"
    database: Annotated[
        str, Setting("sqlite:///FILE or postgresql://...; by default a file in the data folder.", _DATABASE)
    ] = ""
    read_database: Annotated[
        str, Setting("Streaming standby to read reports and the back office from: postgresql://...", _STANDBY)
    ] = ""
    read_lag_max_s: Annotated[
        float, Setting("Seconds that it may be behind; beyond them the primary is read.", _number(1, 3600))
    ] = 10.0
    environment: Annotated[
        Environment, Setting("test (simulators, test clock) or live (real acquirers only).", _choice(*Environment))
    ] = Environment.TEST
    workers: Annotated[int, Setting("Server processes; above 1 needs PostgreSQL.", _whole(1, 256))] = 1
    drain_s: Annotated[
        float,
        Setting(
            "Seconds for which a host that is asked to stop still serves, with readiness failing.", _number(0, 600)
        ),
    ] = 0.0
    tls_cert: Annotated[str, Setting("PEM certificate chain to serve HTTPS with.", _PATH)] = ""
    tls_key: Annotated[str, Setting("PEM private key that belongs to it.", _PATH)] = ""
    tls_self_signed: Annotated[
        bool, Setting("Serve HTTPS with a certificate made for localhost; test hosts only.", _SWITCH)
    ] = False
    http_port: Annotated[int, Setting("Port that answers plain HTTP with 307 to the HTTPS address.", _SPARE_PORT)] = 0
    trusted_proxy: Annotated[
        str, Setting("Proxies that end TLS before this process: addresses or networks, separated by commas.", _PROXIES)
    ] = ""
    public_url: Annotated[
        str, Setting("How clients reach this host, where it differs from host and port.", _WEB_ADDRESS)
    ] = ""
    archive: Annotated[
        str, Setting("Folder of the months that `tollgate archive` moved out of the database.", _PATH)
    ] = ""
    key_file: Annotated[
        str, Setting("Key file; on a live host it is required and lies outside the data folder.", _PATH)
    ] = ""
    metrics_port: Annotated[
        int, Setting("Port for /metrics alone; on a live host metrics are served nowhere else.", _SPARE_PORT)
    ] = 0
    metrics_host: Annotated[str, Setting("Address to listen on for /metrics.", _HOST)] = "127.0.0.1"
    acquirer_timeout_s: Annotated[float, Setting("Seconds to wait for an acquirer's answer.", _number(0.1, 300))] = 30.0
    completion_margin_s: Annotated[
        float,
        Setting(
            "Seconds beyond that after which the process that works on a payment counts as dead.", _number(0.1, 3600)
        ),
    ] = 30.0
    authorization_days: Annotated[
        float, Setting("Days for which an authorisation may be captured.", _number(0.01, 3650))
    ] = 7.0
    registration_card_months: Annotated[
        int, Setting("Months for which a card registration is retained after the expiry of the card.", _MONTHS)
    ] = 14
    registration_idle_months: Annotated[
        int, Setting("Months for which other registrations are retained after their last use.", _MONTHS)
    ] = 14
    registration_extension_months: Annotated[
        int, Setting("Months for which a registration is retained when an extension is asked for.", _MONTHS)
    ] = 24
    payment_account_days: Annotated[
        int, Setting("Days after which the account of a payment and of what followed it is wiped.", _whole(1, 36_500))
    ] = 430
    schedule_tries: Annotated[
        int, Setting("How often one payment of a schedule is tried where the bank may say yes later.", _whole(1, 100))
    ] = 5
    schedule_retry_days: Annotated[float, Setting("Days within which these tries are made.", _number(0, 365))] = 20.0
    throttles: Annotated[
        str, Setting("Throttle rows to turn on, as OPERATION=COUNT/SECONDS, separated by commas.", _THROTTLES)
    ] = ""
    shared: Annotated[
        str, Setting("Redis in which all processes count requests together; by default each counts alone.", _REDIS)
    ] = ""
    card_testing: Annotated[
        str,
        Setting(
            "Stop card testing: on, off, or auto, which is on for a live host and off for a test host.",
            _choice("on", "off", "auto"),
        ),
    ] = "auto"
    four_eyes: Annotated[
        str,
        Setting(
            "Actions in the back office that a second person confirms, as refund=1000.00,token,record; or none.",
            _FOUR_EYES,
        ),
    ] = ""
    allow_plain_loopback: Annotated[
        bool, Setting("Let a live host reach acquirers by http:// on 127.0.0.1 or ::1; never elsewhere.", _SWITCH)
    ] = False
    outbound_ports: Annotated[
        str, Setting("Ports of the addresses that merchants give, such as those of webhooks.", _PORTS)
    ] = "443,8443"
    outbound_ca: Annotated[
        str, Setting("PEM file of further certificate authorities that vouch for these addresses.", _PATH)
    ] = ""
    traces: Annotated[
        str,
        Setting(
            "Collector of OpenTelemetry traces, such as http://127.0.0.1:4318; needs the extra `traces`.",
            _WEB_ADDRESS,
        ),
    ] = ""
    log_level: Annotated[
        str, Setting("debug, info, warning or error.", _choice("debug", "info", "warning", "error"))
    ] = "info"
    log_format: Annotated[
        LogFormat, Setting("json, terminal (short lines), or auto: terminal where there is one.", _choice(*LogFormat))
    ] = LogFormat.AUTO

    @property
    def is_live(self) -> bool:
        return self.environment is Environment.LIVE

    @property
    def stops_card_testing(self) -> bool:
        return self.card_testing == "on" or (self.card_testing == "auto" and self.is_live)

    @property
    def data_folder(self) -> Path:
        return Path(self.data)

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{self.data_folder / 'tollgate.db'}"

    @property
    def uses_sqlite(self) -> bool:
        return self.database_url.startswith("sqlite:")

    @property
    def archive_folder(self) -> Path | None:
        return Path(self.archive) if self.archive else None

    @property
    def key_path(self) -> Path:
        return Path(self.key_file) if self.key_file else self.data_folder / "keys.json"

    @property
    def certificate_folder(self) -> Path:
        """The folder of the files that channels name for TLS to their acquirers."""
        return self.data_folder / "certificates"

    @property
    def outbound_port_numbers(self) -> frozenset[int]:
        return frozenset(int(port) for port in self.outbound_ports.split(","))

    @property
    def serves_tls(self) -> bool:
        return bool(self.tls_cert) or self.tls_self_signed

    @property
    def listens_everywhere(self) -> bool:
        """The host listens on every address, so its own setting is no address to reach it at."""
        return self.host in ("0.0.0.0", "::")

    @property
    def base_url(self) -> str:
        if self.public_url:
            return self.public_url.rstrip("/")
        host = "127.0.0.1" if self.listens_everywhere else f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.serves_tls else 'http'}://{host}:{self.port}"


def wants_traces(settings: Settings, variables: Mapping[str, str] = os.environ) -> bool:
    """Tells whether traces are asked for, by the flag or by the variables that OpenTelemetry defines."""
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true" or variables.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return bool(settings.traces or any(variables.get(name) for name in _COLLECTOR_VARIABLES))


_COLLECTOR_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

SETTINGS = tuple(
    msgspec.structs.replace(hint.__metadata__[0], member=member)
    for member, hint in get_type_hints(Settings, include_extras=True).items()
)


def load_settings(flags: Mapping[str, object] | None = None, variables: Mapping[str, str] | None = None) -> Settings:
    """Reads flags first, then variables, then defaults; an empty variable counts as not given.

    Raises a ValueError that names the first row whose value makes no sense.
    """
    variables = os.environ if variables is None else variables
    chosen: dict[str, object] = {}
    for setting in SETTINGS:
        value = (flags or {}).get(setting.member)
        if value is None:
            value = variables.get(setting.variable) or None
        if value is not None:
            chosen[setting.member] = setting.read(value)
    return msgspec.convert(chosen, Settings, strict=False)
