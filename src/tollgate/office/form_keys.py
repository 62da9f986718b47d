"""Keys of forms, by which a form that is sent twice is recognized, and marks, by which an outdated page is.

Who looks for what the first one made is the module that made it.
"""

from hashlib import sha256

import msgspec

from tollgate.catalog import codes, limits, results
from tollgate.office import visits
from tollgate.operations.app import App
from tollgate.values import Conflict, make_id

SENT_BEFORE = "This form was sent before, and is not carried out twice."


def make_form_key(visit: visits.Visit) -> str:
    return make_id(visit.app.random_bytes)


def check_form_key(key: str) -> str:
    if not key.isalnum() or len(key) > limits.LIMITS.form_key_length_max:
        raise visits.refuse_field("key", "is missing: open the page again")
    return key


def derive_id(visit: visits.Visit, action: str, key: str) -> str:
    """Returns the id of what an action makes for a form: always the same, and another for another merchant."""
    digest = sha256(f"{visit.get_merchant().id} {action} {key}".encode()).digest()
    return make_id(lambda count: digest[:count])


def make_app(visit: visits.Visit, action: str, key: str) -> App:
    """Returns the app for an action that makes one thing: its next id is the one that the form's key decides."""
    digest = bytes.fromhex(derive_id(visit, action, key))[1:]
    return msgspec.structs.replace(visit.app, random_bytes=lambda count: digest[:count])


def make_mark(shown: object) -> str:
    """Returns a text that is another one as soon as what a page shows has changed."""
    return sha256(msgspec.json.encode(shown, order="deterministic")).hexdigest()[:32]


def check_mark(given: str, shown: object) -> None:
    """Refuses a form of a page that shows something which was changed since."""
    if given != make_mark(shown):
        raise Conflict(
            results.get_result(codes.INVALID_REQUEST),
            "somebody changed this after you opened the page: look at it again, then repeat your change",
        )
