"""Requests to the Stripe API, and how intents and refunds are found there.

What is done with them is decided in `charges` and `exchanges`.
"""

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tollgate.connectors.exchange import FORM, AcquirerAccount, Conversation, WireReply, WireRequest, read_reply
from tollgate.connectors.stripe import messages
from tollgate.connectors.stripe.messages import INTENTS, REFUNDS, Intent, IntentPage, Pairs, Refund, RefundPage
from tollgate.payments.payment import Payment
from tollgate.values import MINUTE, SECOND

API_KEY = "api-key"
"""The name of the secret by which the processor knows the channel."""
WITH_CHARGE = ("expand[]", "latest_charge")
PAGE = 50
PAGES_MAX = 200
CLOCK_DIFFERENCE_MAX = 10 * MINUTE
"""The difference between the processor's clock and ours up to which an intent is found by its time."""

_REFUSED_STATUS = 400
_Message = TypeVar("_Message", bound=msgspec.Struct)
_Page = TypeVar("_Page", IntentPage, RefundPage)


def is_fine(reply: WireReply) -> bool:
    return 200 <= reply.status < 300


def read_answer(reply: WireReply, kind: type[_Message]) -> _Message | None:
    """Returns None for a refusal, and for what is no such object."""
    return read_reply(reply, kind) if is_fine(reply) else None


@dataclass(frozen=True)
class Api:
    account: AcquirerAccount

    def post(self, path: str, pairs: Pairs, key: str) -> WireRequest:
        return self._make(path, key, "POST", messages.encode_form(pairs))

    def get(self, path: str, pairs: Pairs, key: str) -> WireRequest:
        return self._make(f"{path}?{messages.encode_form(pairs).decode()}", f"{key}-question", "GET", b"")

    def _make(self, path: str, key: str, method: str, body: bytes) -> WireRequest:
        credential = self.account.secrets.get(API_KEY)
        headers = {"Stripe-Version": messages.VERSION}
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential.reveal()}"
        return WireRequest(path=path, body=body, key=key, method=method, content_type=FORM, headers=headers)

    def find_intent(self, intent_id: str, key: str) -> Conversation[Intent | None]:
        """Asks for an intent with its latest charge; None where it was not answered."""
        reply = yield self.get(f"{INTENTS}/{intent_id}", (WITH_CHARGE,), key)
        intent = read_answer(reply, Intent)
        return intent if intent is not None and intent.id == intent_id else None

    def find_intents(self, payment: Payment) -> Conversation[list[Intent] | None]:
        """Asks for all intents of a payment; None where one of them was not answered."""
        intent_ids = yield from self.find_intent_ids(payment)
        if intent_ids is None:
            return None
        intents: list[Intent] = []
        for intent_id in intent_ids:
            intent = yield from self.find_intent(intent_id, payment.id)
            if intent is None:
                return None
            intents.append(intent)
        return intents

    def find_intent_ids(self, payment: Payment) -> Conversation[list[str] | None]:
        """Finds the intents that were created for a payment; None where the processor did not list all of them."""
        known = payment.details.get("ConnectorTxID1")
        if known:
            return [known]
        # The business clock of a test host can be moved; the deadline of a payment is always real time.
        since = (min(payment.created_at, payment.deadline_at) - CLOCK_DIFFERENCE_MAX) // SECOND
        until = (max(payment.created_at, payment.deadline_at) + CLOCK_DIFFERENCE_MAX) // SECOND
        window = (("created[gte]", str(since)), ("created[lte]", str(until)))
        listed = yield from self._list(INTENTS, window, payment.id, IntentPage)
        if isinstance(listed, WireReply) and listed.status == _REFUSED_STATUS:
            # The processor cannot filter by time, so it is asked for everything.
            listed = yield from self._list(INTENTS, (), payment.id, IntentPage)
        if isinstance(listed, WireReply):
            return None
        return [each.id for page in listed for each in page.data if messages.find_key(each.metadata) == payment.id]

    def find_refunds(self, payment_id: str, intent_id: str) -> Conversation[list[Refund] | None]:
        """Finds the refunds that a payment made of an intent; None where the processor did not list all of them."""
        listed = yield from self._list(REFUNDS, (("payment_intent", intent_id),), payment_id, RefundPage)
        if isinstance(listed, WireReply):
            return None
        return [each for page in listed for each in page.data if messages.find_key(each.metadata) == payment_id]

    def cancel(self, intent: Intent, payment_id: str) -> Conversation[bool]:
        """Cancels an intent that took no money."""
        # A processor answers a key as it did the first time, so another state needs another key.
        key = f"{payment_id}-{intent.id}-{intent.status}-cancellation"
        cancelled = read_answer((yield self.post(f"{INTENTS}/{intent.id}/cancel", (), key)), Intent)
        return cancelled is not None and cancelled.id == intent.id and cancelled.status == "canceled"

    def _list(self, path: str, query: Pairs, key: str, kind: type[_Page]) -> Conversation[list[_Page] | WireReply]:
        """Reads all pages of a list, or returns the answer at which that ended."""
        pages: list[_Page] = []
        place: Pairs = ()
        while True:
            reply = yield self.get(path, (*query, ("limit", str(PAGE)), *place), key)
            page = read_answer(reply, kind)
            if page is None:
                return reply
            pages.append(page)
            if not page.has_more or not page.data:
                return pages
            if len(pages) == PAGES_MAX:
                return reply
            place = (("starting_after", page.data[-1].id),)
