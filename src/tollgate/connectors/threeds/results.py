"""The issuer's last word after a challenge: reading it, and answering that it was heard. What follows is not known."""

from __future__ import annotations

import msgspec

from tollgate.connectors.threeds.messages import VERSIONS, Erro, RReq, RRes, read_message, write_message
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult

_RESULT_STATUSES = frozenset("YANUR")
_RECEIVED = "01"


def read_result(body: bytes, case: AuthenticationCase) -> AuthenticationResult | None:
    """None unless it is a complete result of this very case, as its directory server and its issuer name it."""
    request = read_message(body, RReq)
    if request is None or not _names_case(request, case) or not _is_complete(request, case):
        return None
    return AuthenticationResult(
        status=request.trans_status,
        reason=request.trans_status_reason,
        eci=request.eci,
        value=request.authentication_value,
        cancelled=request.challenge_cancel,
    )


def answer_result(body: bytes, case: AuthenticationCase | None, *, accepted: bool) -> bytes:
    """Tell the sender that its result counts, or why it does not. None: the address belongs to no case."""
    request = read_message(body, RReq)
    if request is None:
        return write_message(_make_error("203", "not a results request, or a field is not well-formed"))
    if case is None or not _names_case(request, case):
        return write_message(_point_at(request, _make_error("301", "the transaction is not known")))
    if not accepted:
        return write_message(_point_at(request, _make_error("305", "the transaction waits for no such result")))
    return write_message(
        RRes(
            message_version=request.message_version,
            three_ds_server_trans_id=request.three_ds_server_trans_id,
            ds_trans_id=request.ds_trans_id,
            acs_trans_id=request.acs_trans_id,
            results_status=_RECEIVED,
        )
    )


def _names_case(request: RReq, case: AuthenticationCase) -> bool:
    named = (request.three_ds_server_trans_id, request.ds_trans_id, request.acs_trans_id, request.message_version)
    return named == (case.server_id, case.ds_id, case.acs_id, case.version)


def _is_complete(request: RReq, case: AuthenticationCase) -> bool:
    if request.trans_status not in _RESULT_STATUSES:
        return False
    if request.trans_status not in ("Y", "A"):
        return True
    # What was asked about decides, and not what the answer says of it.
    has_proof = request.authentication_value is not None or case.category != "01"
    # Nobody passes a challenge that was broken off.
    return has_proof and request.challenge_cancel is None


def _make_error(code: str, description: str) -> Erro:
    return Erro(
        message_version=VERSIONS[0],
        error_code=code,
        error_component="S",
        error_description=description,
        error_message_type="RReq",
    )


def _point_at(request: RReq, error: Erro) -> Erro:
    return msgspec.structs.replace(
        error,
        message_version=request.message_version,
        three_ds_server_trans_id=request.three_ds_server_trans_id,
        ds_trans_id=request.ds_trans_id,
        acs_trans_id=request.acs_trans_id,
    )
