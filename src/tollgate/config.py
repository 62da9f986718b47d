"""Settings: one table of rows, each a flag of `tollgate serve` and a TOLLGATE_* variable.

What is built from them is decided in wiring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

Months = Annotated[int, msgspec.Meta(ge=0, le=1200)]
Days = Annotated[int, msgspec.Meta(ge=1, le=36_500)]


class Environment(StrEnum):
    TEST = "test"
    LIVE = "live"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults are those of a laptop: a test host on loopback with an embedded database."""

    host: str = "127.0.0.1"
    port: int = 8080
    data: str = "data"
    database: str = ""
    environment: Environment = Environment.TEST
    workers: int = 1
    tls_cert: str = ""
    tls_key: str = ""
    tls_self_signed: bool = False
    http_port: int = 0
    trusted_proxy: str = ""
    public_url: str = ""
    key_file: str = ""
    metrics_port: int = 0
    acquirer_timeout_s: float = 30.0
    settle_margin_s: float = 30.0
    authorization_days: float = 7.0
    registration_card_months: Months = 14
    registration_idle_months: Months = 14
    registration_extension_months: Months = 24
    payment_account_days: Days = 430
    schedule_tries: int = 5
    schedule_retry_days: float = 20.0
    throttles: str = ""
    log_level: str = "info"

    @property
    def is_live(self) -> bool:
        return self.environment is Environment.LIVE

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
    def key_path(self) -> Path:
        return Path(self.key_file) if self.key_file else self.data_folder / "keys.json"

    @property
    def serves_tls(self) -> bool:
        return bool(self.tls_cert) or self.tls_self_signed

    @property
    def listens_everywhere(self) -> bool:
        """An address to listen on that is none to be reached at."""
        return self.host in ("0.0.0.0", "::")

    @property
    def base_url(self) -> str:
        if self.public_url:
            return self.public_url.rstrip("/")
        host = "127.0.0.1" if self.listens_everywhere else f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.serves_tls else 'http'}://{host}:{self.port}"


class Setting(msgspec.Struct, frozen=True):
    """One row: the member it fills, and what it is for. Flag and variable names follow from the member's."""

    member: str
    text: str

    @property
    def flag(self) -> str:
        return "--" + self.member.replace("_", "-")

    @property
    def variable(self) -> str:
        return "TOLLGATE_" + self.member.upper()


SETTINGS = (
    Setting("host", "Address to listen on."),
    Setting("port", "Port to listen on."),
    Setting("data", "Folder for the embedded database and, on a test host, the key file."),
    Setting("database", "sqlite:///FILE or postgresql://...; by default a file in the data folder."),
    Setting("environment", "test (simulators, test clock) or live (real acquirers only)."),
    Setting("workers", "Server processes; above 1 needs PostgreSQL."),
    Setting("tls_cert", "PEM certificate chain to serve HTTPS with."),
    Setting("tls_key", "PEM private key that belongs to it."),
    Setting("tls_self_signed", "Serve HTTPS with a certificate made for localhost; test hosts only."),
    Setting("http_port", "Port that answers plain HTTP with 307 to the HTTPS address."),
    Setting("trusted_proxy", "Address of a proxy that ends TLS in front of this process."),
    Setting("public_url", "How clients reach this host, where it differs from host and port."),
    Setting("key_file", "Key file; on a live host it is required and lies outside the data folder."),
    Setting("metrics_port", "Port for /metrics alone; on a live host metrics are served nowhere else."),
    Setting("acquirer_timeout_s", "Seconds to wait for an acquirer's answer."),
    Setting("settle_margin_s", "Seconds beyond that after which whoever works on a payment counts as dead."),
    Setting("authorization_days", "Days for which an authorisation may be captured."),
    Setting("registration_card_months", "Months for which a stored card is kept after its expiry."),
    Setting("registration_idle_months", "Months for which other stored accounts are kept after their last use."),
    Setting("registration_extension_months", "Months for which a registration is kept when an extension is asked for."),
    Setting("payment_account_days", "Days after which the account of a payment and of what followed it is wiped."),
    Setting("schedule_tries", "How often one payment of a schedule is tried where the bank may say yes later."),
    Setting("schedule_retry_days", "Days within which these tries are made."),
    Setting("throttles", "Throttle rows to turn on, as OPERATION=COUNT/SECONDS, separated by commas."),
    Setting("log_level", "debug, info, warning or error."),
)


def load_settings(flags: Mapping[str, object] | None = None, variables: Mapping[str, str] | None = None) -> Settings:
    """Flags win over variables, variables over defaults.

    A value of the wrong type is a ValueError that names its row.
    """
    variables = os.environ if variables is None else variables
    chosen: dict[str, object] = {}
    for setting in SETTINGS:
        value = (flags or {}).get(setting.member)
        if value is None:
            value = variables.get(setting.variable)
        if value is not None and value != "":
            chosen[setting.member] = value
    try:
        return msgspec.convert(chosen, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"a setting is wrong: {error}") from None
