"""The request that decides a review. What the decision does is written in `flows`."""

from tollgate.catalog import results
from tollgate.contract.fields import Pairs, is_identity_name
from tollgate.payments.reviews import Decision
from tollgate.values import Fault

_DECISIONS = ", ".join(Decision)


def read_decision(pairs: Pairs) -> Decision:
    """Reads the decision, or names every fault of the request."""
    sent = [(name, value) for name, value in pairs if not is_identity_name(name)]
    faults = [Fault(name, "is unknown here; known is [decision]", value) for name, value in sent if name != "decision"]
    values = [value for name, value in sent if name == "decision"]
    if len(values) != 1 or values[0] not in list(Decision):
        faults.append(Fault("decision", f"must be one of [{_DECISIONS}], once", values[0] if values else None))
    if faults:
        raise results.make_invalid(*faults)
    return Decision(values[0])
