"""TLS to acquirers: the authorities that are trusted, and the client certificate of an acquirer account.

The files are read when a connection is made, and again when they have changed. Which addresses need TLS is decided in
`addresses`.
"""

import logging
import os
import ssl
from collections.abc import Iterator

from tollgate.payments.merchants import TlsTerms
from tollgate.wire.acquirer import Unsent

_log = logging.getLogger("tollgate.wire")

_Stamp = tuple[tuple[int, int, int], ...]
"""The time, the size and the inode of each file: a file that was replaced differs in one of them."""


class ClientTls:
    """The client's side of TLS under the terms of one acquirer account. Host names are always verified."""

    def __init__(self, terms: TlsTerms) -> None:
        self._terms = terms
        self._context: ssl.SSLContext | None = None
        self._stamp: _Stamp = ()

    def get_context(self) -> ssl.SSLContext:
        """Returns the context for a new connection; raises Unsent if a file cannot be read or is not what it must be.

        A context stays the same until a file changes, so that a pool of connections recognises its own.
        """
        names = [name for name in (self._terms.ca_file, self._terms.certificate_file) if name]
        stamp = _stamp_files(names)
        if self._context is None or stamp is None or stamp != self._stamp:
            faults = list_tls_faults(self._terms)
            if stamp is None or faults:
                for fault in faults:
                    _log.error("TLS file of an acquirer refused: %s", fault)
                raise Unsent("a TLS file of the acquirer account cannot be used")
            self._context, self._stamp = _make_context(self._terms), stamp
        return self._context


def list_tls_faults(terms: TlsTerms) -> list[str]:
    """Says what is wrong with the files of an acquirer account."""
    return list(_check(terms))


def _check(terms: TlsTerms) -> Iterator[str]:
    if terms.ca_file:
        try:
            ssl.create_default_context(cafile=terms.ca_file)
        except (OSError, ValueError):
            yield f"--acquirer-ca {terms.ca_file} is not a readable PEM file with one or more certificates"
    if terms.certificate_file:
        try:
            _load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), terms.certificate_file)
        except (OSError, ValueError):
            yield (
                f"--acquirer-certificate {terms.certificate_file} is not a readable PEM file with a certificate and "
                "its key without a password"
            )


def _make_context(terms: TlsTerms) -> ssl.SSLContext:
    # With a file of authorities, those of the system are not loaded.
    context = ssl.create_default_context(cafile=terms.ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if terms.certificate_file:
        _load_certificate(context, terms.certificate_file)
    return context


def _load_certificate(context: ssl.SSLContext, certificate_file: str) -> None:
    # OpenSSL would ask the terminal for the password of a locked key, and wait.
    context.load_cert_chain(certificate_file, password="")


def _stamp_files(names: list[str]) -> _Stamp | None:
    """Returns None if a file does not exist."""
    try:
        found = [os.stat(name) for name in names]
    except OSError:
        return None
    return tuple((each.st_mtime_ns, each.st_size, each.st_ino) for each in found)
