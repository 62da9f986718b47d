"""The sellers of a marketplace payment, as they are sent and answered. What each gets is decided in `payments`."""

from collections.abc import Mapping

from tollgate.catalog.results import make_invalid
from tollgate.catalog.sellers import list_sellers, make_seller_names
from tollgate.contract.fields import Fields
from tollgate.payments.payment import Payment
from tollgate.payments.splits import Share, Split
from tollgate.values import Fault, read_hundredths, render_hundredths


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


def render_split(split: Split) -> dict[str, str]:
    """Returns the fields by which a merchant would have sent these shares."""
    fields: dict[str, str] = {}
    for index, share in enumerate(split):
        seller_id, amount = make_seller_names(index)
        fields |= {seller_id: share.seller_id, amount: render_hundredths(share.amount)}
    return fields
