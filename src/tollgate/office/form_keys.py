"""Keys of forms, by which a form that is sent twice, by a double click or a reload, is recognized.

Who looks for what the first one made is the module that made it.
"""

from hashlib import sha256

from tollgate.catalog import limits
from tollgate.office import visits
from tollgate.values import make_id

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
