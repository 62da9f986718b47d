"""The sellers of a marketplace payment, as they are sent and answered. What each gets is decided in `payments`."""

from collections.abc import Mapping

from tollgate.catalog.results import make_invalid
from tollgate.catalog.sellers import list_sellers
from tollgate.contract.fields import Fields
from tollgate.payments.payment import Payment
from tollgate.payments.splits import Share, Split
from tollgate.values import Fault, read_hundredths


def read_split(fields: Fields) -> Split:
    """Returns the shares in the order of their indices; the rules have found each of them whole."""
    if "marketPlace" not in fields.groups:
        return ()
    values = fields.values
    return tuple(
        Share(values[seller_id], read_hundredths(values[amount])) for seller_id, amount in list_sellers(values)
    )


def check_sellers(echo: Mapping[str, str], split: Split, named: Payment) -> None:
    """Refuses a follow-up whose sellers have no share in the payment that it names."""
    if not split:
        return
    known = {share.seller_id for share in named.split}
    faults = [
        Fault(name, "must be a seller of the payment that it follows", echo.get(name))
        for (name, _), share in zip(list_sellers(echo), split, strict=True)
        if share.seller_id not in known
    ]
    if faults:
        raise make_invalid(*faults)
