"""The wallets' providers of the tests: keys and certificates by openssl, tokens by Node.

Nothing of the gateway makes them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tollgate.values import ChannelId, Instant, to_datetime, to_instant

SCRIPT = Path(__file__).with_name("wallet_tokens.mjs")
NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
CHANNEL_ID = ChannelId("8a" + "2" * 30)
MERCHANT = "merchant.test.corner-shop"
RECIPIENT = "gateway:tollgate-tests"
NUMBER = "4200000000000000"
CRYPTOGRAM = "AgAAAAAABk4DWZ4C28yUQAAAAAA="

_BIRTH = "2020-01-01 00:00:00"
_DAYS = "14600"
_EXTENSIONS = """
[intermediate]
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign
1.2.840.113635.100.6.2.14=ASN1:NULL
[intermediate_unmarked]
basicConstraints=critical,CA:TRUE,pathlen:0
[intermediate_powerless]
basicConstraints=critical,CA:FALSE
1.2.840.113635.100.6.2.14=ASN1:NULL
[leaf]
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
1.2.840.113635.100.6.29=ASN1:NULL
[leaf_unmarked]
basicConstraints=critical,CA:FALSE
"""


class Mint:
    """Everything lies in one folder, by name: `root.key`, `root.pem` and so on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "extensions").write_text(_EXTENSIONS)
        for name in ("recipient_a", "recipient_b", "other_ec", "root_signing", "other_signing"):
            self.make_curve_key(name)
        for name in ("recipient_c", "other_rsa"):
            self._openssl("genrsa", "-out", self.path(name, "key"), "2048")
        self.make_root("root")
        self.make_issued("intermediate", by="root")
        self.make_issued("leaf", by="intermediate")

    def path(self, name: str, ending: str) -> str:
        return str(self.folder / f"{name}.{ending}")

    def read(self, name: str, ending: str = "key") -> bytes:
        return (self.folder / f"{name}.{ending}").read_bytes()

    def read_public(self, name: str) -> bytes:
        """Returns the public half of a key, as subjectPublicKeyInfo."""
        command = ["openssl", "pkey", "-in", self.path(name, "key"), "-pubout", "-outform", "DER"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def make_curve_key(self, name: str, curve: str = "prime256v1") -> None:
        self._openssl("ecparam", "-name", curve, "-genkey", "-noout", "-out", self.path(name, "key"))

    def make_root(self, name: str, *, subject: str = "Root", days: str = _DAYS) -> None:
        self.make_curve_key(name)
        powers = ["-addext", "basicConstraints=critical,CA:TRUE"]
        out, key = self.path(name, "pem"), self.path(name, "key")
        self._openssl(
            "req", "-x509", "-new", "-key", key, "-subj", f"/CN={subject}", "-days", days, *powers, "-out", out
        )

    def make_issued(self, name: str, *, by: str, section: str | None = None, days: str = _DAYS) -> None:
        self.make_curve_key(name)
        key, request = self.path(name, "key"), self.path(name, "csr")
        self._openssl("req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", request)
        issuer = ["-CA", self.path(by, "pem"), "-CAkey", self.path(by, "key"), "-CAcreateserial", "-days", days]
        extensions = ["-extfile", str(self.folder / "extensions"), "-extensions", section or name]
        self._openssl("x509", "-req", "-in", request, *issuer, *extensions, "-out", self.path(name, "pem"))

    def make_token(self, request: Mapping[str, Any]) -> str:
        return self.make_tokens([request])[0]

    def make_tokens(self, requests: Iterable[Mapping[str, Any]]) -> list[str]:
        asked = json.dumps(list(requests)).encode()
        done = subprocess.run(["node", str(SCRIPT)], input=asked, capture_output=True, env=_variables(), check=False)
        assert done.returncode == 0, done.stderr.decode()
        tokens: list[str] = json.loads(done.stdout)
        return tokens

    def request_a(self, now: Instant, *, contents: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        payment = {"onlinePaymentCryptogram": CRYPTOGRAM, "eciIndicator": "7"}
        plain = {
            "applicationPrimaryAccountNumber": NUMBER,
            "applicationExpirationDate": "340531",
            "currencyCode": "978",
            "transactionAmount": 9200,
            "cardholderName": "Jane Jones",
            "deviceManufacturerIdentifier": "040010030273",
            "paymentDataType": "3DSecure",
            "paymentData": payment,
        }
        request = {
            "wallet": "walletA",
            "recipientKey": self.path("recipient_a", "key"),
            "merchant": MERCHANT,
            "signer": self.path("leaf", "pem"),
            "signerKey": self.path("leaf", "key"),
            "chain": self.path("intermediate", "pem"),
            "signedAt": f"{to_datetime(now):%Y-%m-%d %H:%M:%S}",
            "contents": plain | dict(contents or {}),
        }
        return request | changes

    def request_b(self, now: Instant, *, contents: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        card = {
            "pan": NUMBER,
            "expirationMonth": 5,
            "expirationYear": 2034,
            "authMethod": "CRYPTOGRAM_3DS",
            "cryptogram": CRYPTOGRAM,
            "eciIndicator": "05",
        }
        plain = {
            "messageExpiration": str(now // 1000 + 3_600_000),
            "messageId": f"message-{os.urandom(8).hex()}",
            "paymentMethod": "CARD",
            "paymentMethodDetails": card,
        }
        request = {
            "wallet": "walletB",
            "rootKey": self.path("root_signing", "key"),
            "recipientKey": self.path("recipient_b", "key"),
            "recipient": RECIPIENT,
            "keyExpiration": now // 1000 + 86_400_000,
            "contents": plain | dict(contents or {}),
        }
        return request | changes

    def request_c(self, now: Instant, *, contents: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        plain = {
            "amount": "9200",
            "currency_code": "EUR",
            "utc": str(now // 1000),
            "eci_indicator": "5",
            "tokenPAN": NUMBER,
            "tokenPanExpiration": "0534",
            "cryptogram": os.urandom(20).hex(),
        }
        request = {
            "wallet": "walletC",
            "recipientKey": self.path("recipient_c", "key"),
            "alg": "RSA-OAEP",
            "contents": plain | dict(contents or {}),
        }
        return request | changes

    def _openssl(self, *arguments: str) -> None:
        command = ["faketime", "-f", _BIRTH, "openssl", *arguments]
        subprocess.run(command, capture_output=True, check=True, env=_variables())


def _variables() -> dict[str, str]:
    return {**os.environ, "TZ": "UTC"}
