"""The redirect connector: open a session, ask what became of it, call it off; and what a provider's answers mean.

Every answer, however odd, ends in one verdict.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.catalog import codes
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.connectors import acquiring
from tollgate.connectors.acquiring import Dialect, describe, encode_message, perform, read_verdict
from tollgate.connectors.exchange import Exchange, WireRequest
from tollgate.connectors.redirect import messages
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Verdict

_EXPIRED_BY_PRODUCT = {messages.TRANSFER: codes.TRANSFER_EXPIRED}

# A provider may send the shopper wherever a merchant may have them sent back to: the web or an app, never script.
_may_lead_to = PARAMETERS["shopperResultUrl"].shape.accepts

_SHOWN_ENDS = 4


def charge(order: Order, key: str, approved_code: str, *, back_url: str = "") -> Exchange:
    """Open a session; what the shopper decides on its page is asked for later."""
    body = encode_message(messages.make_session(order, key, back_url))
    return perform(
        PROVIDER,
        WireRequest(path=messages.SESSIONS, body=body, key=key, simulator_overrides=order.simulator_overrides),
        approved_code,
    )


def reverse(key: str) -> Exchange:
    return acquiring.reverse(PROVIDER, key)


def inquire(key: str, approved_code: str) -> Exchange:
    return acquiring.inquire(PROVIDER, key, approved_code)


def read_session_verdict(reply: messages.SessionReply, approved_code: str) -> Verdict:
    match reply.status:
        case "redirect" if reply.redirect is not None and _may_lead_to(reply.redirect.url):
            return _make_verdict(reply, Outcome.WAITING, codes.PENDING, _render_forward(reply.redirect))
        case "account" if reply.account is not None and reply.account != messages.ProviderAccount():
            return _make_verdict(reply, Outcome.APPROVED, approved_code, _render_receiver(reply.account))
        case "approved" if reply.account is not None:
            return _make_verdict(reply, Outcome.APPROVED, approved_code, _render_payer(reply.account))
        case "cancelled":
            return _make_verdict(reply, Outcome.DECLINED, codes.SHOPPER_CANCELLED)
        case "expired":
            return _make_verdict(
                reply, Outcome.DECLINED, _EXPIRED_BY_PRODUCT.get(reply.product, codes.SHOPPER_TIMED_OUT)
            )
        case _:
            # A redirect that leads nowhere ends here too: nobody could ever finish the session, so it is given up.
            return read_verdict(reply, approved_code)


PROVIDER = Dialect(
    reversals=messages.SESSION_CANCELLATIONS,
    inquiries=messages.SESSION_INQUIRIES,
    decode=messages.decode_reply,
    read_verdict=read_session_verdict,
    undone=acquiring.ACQUIRER.undone | {"cancelled"},
)


def _make_verdict(reply: messages.SessionReply, outcome: Outcome, code: str, more: Mapping[str, str] = {}) -> Verdict:
    return Verdict(outcome=outcome, code=code, details={**describe(reply), **more})


def _render_forward(forward: messages.ForwardReply) -> dict[str, str]:
    named = {"redirect.url": forward.url, "redirect.method": forward.method}
    for place, field in enumerate(forward.parameters):
        named[f"redirect.parameters[{place}].name"] = field.name
        named[f"redirect.parameters[{place}].value"] = field.value
    return named


def _render_receiver(account: messages.ProviderAccount) -> dict[str, str]:
    """Told in full: whoever is to pay into an account has to know it."""
    plain = {"PaymentReference": account.reference, "DueDate": account.due, "Barcode": account.barcode}
    return _render_bank_account(account, account.iban) | {name: value for name, value in plain.items() if value}


def _render_payer(account: messages.ProviderAccount) -> dict[str, str]:
    if account.account_id:
        return _render_members("virtualAccount", accountId=account.account_id, holder=account.holder)
    return _render_bank_account(account, _hide_middle(account.iban))


def _render_bank_account(account: messages.ProviderAccount, iban: str) -> dict[str, str]:
    return _render_members("bankAccount", holder=account.holder, iban=iban, bic=account.bic, bankName=account.bank_name)


def _render_members(structure: str, **members: str) -> dict[str, str]:
    """The answer's fields of one structure; what the provider did not tell is left out."""
    return {f"{structure}.{name}": value for name, value in members.items() if value}


def _hide_middle(iban: str) -> str:
    """The ends by which its owner knows an account; of what is no longer than both, nothing."""
    hidden = len(iban) - 2 * _SHOWN_ENDS
    return iban[:_SHOWN_ENDS] + "*" * hidden + iban[-_SHOWN_ENDS:] if hidden > 0 else "*" * len(iban)
