"""The certificate for localhost: made once, renewed before it runs out, its key private."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from tollgate.hosting.certificate import get_local_certificate
from tollgate.values import DAY, to_instant

NOW = to_instant(datetime.now(UTC))


def test_a_certificate_names_this_machine_and_is_valid_for_a_year(tmp_path: Path) -> None:
    path, key = get_local_certificate(tmp_path, NOW)

    made = x509.load_pem_x509_certificate(path.read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert made.not_valid_after_utc - datetime.now(UTC) > timedelta(days=360)
    assert key.stat().st_mode & 0o777 == 0o600


def test_it_is_kept_until_it_runs_out_soon(tmp_path: Path) -> None:
    path, _ = get_local_certificate(tmp_path, NOW)
    first = path.read_bytes()

    get_local_certificate(tmp_path, NOW + 300 * DAY)
    assert path.read_bytes() == first

    get_local_certificate(tmp_path, NOW + 340 * DAY)
    assert path.read_bytes() != first


def test_a_lost_key_makes_a_new_pair(tmp_path: Path) -> None:
    path, key = get_local_certificate(tmp_path, NOW)
    first = path.read_bytes()
    key.unlink()

    get_local_certificate(tmp_path, NOW)

    assert path.read_bytes() != first
    assert key.exists()
