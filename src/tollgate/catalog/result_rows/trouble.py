"""Result rows of broken lines and broken machines, ours and those of others. What a party decided is not trouble."""

from __future__ import annotations

from tollgate.catalog.result_rows.row import Cause, Origin, Row, join_causes

COMMUNICATION = join_causes(
    Cause(Origin.OTHER_CODE, "`900.100.300`, and the reversal is a payment of its own"),
    Row("000.400.030", "Half done: the automatic reversal did not get through, so reverse this payment yourself."),
    Row("900.100.301", "The acquirer did not answer in time, and the payment has been undone."),
    Cause(Origin.OTHER_CODE, "`900.100.300` or `900.100.600`"),
    Row("900.100.100", "Talking to the acquirer failed in a way nobody foresaw."),
    Row("900.100.203", "A gateway in between failed on the way to the acquirer."),
    Row("900.200.100", "Messages with the acquirer arrived out of order."),
    Cause(Origin.PARTNER, "an acquirer's response code"),
    Row("900.100.200", "The acquirer replied that it failed."),
    Row("900.100.310", "Time ran out on our side before the acquirer was asked."),
    Row("900.100.400", "The acquirer waited in vain for a party behind it."),
    Cause(Origin.UNTOLD, "a reason that the acquirers' response codes do not tell"),
    Row("900.100.201", "The bank or gateway behind the acquirer replied that it failed."),
    Row("900.100.202", "The acquirer cannot do this with the payment referred to."),
    Row("900.100.204", "The acquirer did not understand the message, or we did not understand its reply."),
    Row("900.100.500", "The acquirer waited in vain for a party behind it: repeat the payment later."),
    Row("900.100.700", "An outside provider that takes part in this payment failed."),
    Cause(Origin.OTHER_CODE, "`800.100.321`"),
    Row("900.100.205", "The token vault replied that it failed."),
    Cause(Origin.GATEWAY, "an acquirer that does not answer or cannot be reached"),
    Row("900.100.300", "The acquirer did not answer in time. Should it have charged the shopper, we undo that."),
    Row("900.100.600", "The acquirer is out of reach at present."),
    Cause(Origin.GATEWAY, "a checkout whose amount changed while it was being paid"),
    Row("900.300.600", "The shopper's session has run out: start a new checkout."),
    Cause(Origin.LATER, "risk checks and their providers"),
    Row("900.400.100", "The risk provider could not be talked to."),
)

SYSTEM = join_causes(
    Cause(Origin.OTHER_CODE, "`999.999.999`"),
    Row("600.100.100", "The gateway met something it did not foresee."),
    Row("999.999.888", "The records could not be read or written."),
    Cause(Origin.UNTOLD, "a reason that the acquirers' response codes do not tell"),
    Row("800.500.100", "The direct debit was turned down and no reason was given."),
    Row("800.500.110", "The acquirer has no free terminal number for this payment."),
    Cause(Origin.GATEWAY, "a payment, schedule or checkout that another request is changing"),
    Row("800.600.100", "The same request is being worked on: wait for its answer."),
    Cause(Origin.PARTNER, "an acquirer's response code"),
    Row("800.800.400", "The acquirer is closed for maintenance."),
    Cause(Origin.GATEWAY, "a host that is stopping, overloaded or cannot write to its database"),
    Row("800.800.800", "Payments are not available at present."),
    Cause(Origin.OTHER_CODE, "`800.800.800`"),
    Row("800.800.801", "Payments are paused for maintenance."),
    Cause(Origin.GATEWAY, "an error in the gateway"),
    Row("999.999.999", "Something broke on our side: quote the ndc when you report it.", http_status=500),
)
