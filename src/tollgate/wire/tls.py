"""TLS to acquirers: the authorities that are trusted, and the client certificate of an acquirer account.

The files are read when a connection is made, and again when they have changed. Which addresses need TLS is decided in
`addresses`.
"""

import logging
import ssl
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tollgate.payments.merchants import TlsTerms
from tollgate.wire.acquirer import Unsent

_log = logging.getLogger("tollgate.wire")

_Stamp = tuple[tuple[int, int, int], ...]
"""The time, the size and the inode of each file: a file that was replaced differs in one of them."""


class ClientTls:
    """The client's side of TLS under the terms of one acquirer account. Host names are always verified."""

    def __init__(self, terms: TlsTerms, folder: Path) -> None:
        self._terms = terms
        self._folder = folder
        self._context: ssl.SSLContext | None = None
        self._stamp: _Stamp = ()

    def get_context(self) -> ssl.SSLContext:
        """Returns the context for a new connection; raises Unsent if a file cannot be read or is not what it must be.

        A context stays the same until a file changes, so that a pool of connections recognises its own.
        """
        stamp = self._stamp_files()
        if self._context is None or stamp != self._stamp:
            faults = list_tls_faults(self._terms, self._folder)
            for fault in faults:
                _log.error("TLS file of an acquirer refused: %s", fault)
            if faults:
                raise Unsent("a TLS file of the acquirer account cannot be used")
            self._context, self._stamp = self._make_context(), stamp
        return self._context

    def _stamp_files(self) -> _Stamp:
        return tuple(_stamp_file(self._folder / name) for name in msgspec.structs.astuple(self._terms) if name)

    def _make_context(self) -> ssl.SSLContext:
        terms = self._terms
        # With a file of authorities, those of the system are not loaded.
        context = ssl.create_default_context(cafile=self._folder / terms.ca_file if terms.ca_file else None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if terms.certificate_file:
            _load_certificate(context, self._folder / terms.certificate_file)
        return context


def list_tls_faults(terms: TlsTerms, folder: Path) -> list[str]:
    """Says what is wrong with the files of an acquirer account."""
    return list(_check(terms, folder))


def _check(terms: TlsTerms, folder: Path) -> Iterator[str]:
    if terms.ca_file:
        try:
            ssl.create_default_context(cafile=folder / terms.ca_file)
        except (OSError, ValueError):
            yield f"--acquirer-ca: {folder / terms.ca_file} is not a readable PEM file with one or more certificates"
    if terms.certificate_file:
        try:
            _load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), folder / terms.certificate_file)
        except (OSError, ValueError):
            yield (
                f"--acquirer-certificate: {folder / terms.certificate_file} is not a readable PEM file with a "
                "certificate and its key without a password"
            )


def _load_certificate(context: ssl.SSLContext, certificate_file: Path) -> None:
    # OpenSSL would ask the terminal for the password of a locked key, and wait.
    context.load_cert_chain(certificate_file, password="")


def _stamp_file(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino
