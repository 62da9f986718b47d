"""Result rows of what went through, what is still open, and of disputes over what went through. No refusals."""

from __future__ import annotations

from tollgate.catalog.result_rows.row import Row

SUCCESS = (
    Row("000.000.000", "Approved by the acquirer, real money.", "Transaction succeeded"),
    Row("000.000.100", "The query was answered; look at the entries it lists.", "successful request"),
    Row("000.100.105", "The answer to a dispute was taken in."),
    Row("000.100.106", "The answer to a dispute was taken back, as asked."),
    Row(
        "000.100.110",
        "Approved by our simulator (testMode INTERNAL); no acquirer took part.",
        "Request successfully processed in 'Merchant in Integrator Test Mode'",
    ),
    Row("000.100.111", "Every check passed; in this test mode nothing is sent on."),
    Row(
        "000.100.112",
        "Approved by the test system of the acquirer (testMode EXTERNAL), or by our simulator in its place.",
        "Request successfully processed in 'Merchant in Connector Test Mode'",
    ),
    Row("000.100.211", "Captured, for less than the authorisation held."),
    Row("000.100.212", "Captured, for more than the authorisation held."),
    Row("000.300.000", "Authorised and captured in one request (PA.CP): both halves succeeded."),
    Row("000.300.100", "The risk check has no objection."),
    Row("000.300.101", "The risk check has no objection to the bank account."),
    Row("000.300.102", "The risk report is ready."),
    Row("000.300.103", "The exemption may be claimed."),
    Row("000.310.100", "The stored card was brought up to date with its issuer."),
    Row("000.310.101", "The stored card had expired and was replaced by its successor."),
    Row("000.310.110", "The stored card is current; the issuer reports no change."),
    Row("000.400.110", "The issuer authenticated the shopper silently, without a challenge."),
    Row("000.500.000", "Approved with an excellent score (retired scoring service)."),
    Row("000.500.100", "Approved after the address was put right (retired scoring service)."),
    Row("000.600.000", "Approved: the provider confirmed an open payment afterwards."),
)

REVIEW = (
    Row("000.400.000", "Approved, but fraud is possible: review before shipping."),
    Row("000.400.010", "Approved, but the address comparison raised doubts: review before shipping."),
    Row("000.400.020", "Approved, but the security code raised doubts: review before shipping."),
    Row("000.400.040", "Approved, but for another amount than requested: compare before shipping."),
    Row("000.400.050", "Approved, while one party has yet to confirm: review before shipping."),
    Row("000.400.060", "Approved without protection: the merchant bears the loss if it is disputed."),
    Row("000.400.070", "Approved, while the risk provider is still deciding: wait before shipping."),
    Row("000.400.080", "Approved, although one of the checks was out of service: review before shipping."),
    Row("000.400.081", "Approved, but the risk provider could not be reached in time: review before shipping."),
    Row("000.400.082", "Approved, but the risk provider took too long to decide: review before shipping."),
    Row("000.400.090", "Approved, but the risk provider asks for a review before shipping."),
    Row("000.400.091", "Approved, with a review asked for on grounds not stated."),
    Row("000.400.100", "Approved, but the risk check that ran afterwards objects: review before shipping."),
)

PENDING = (
    Row("000.200.000", "Still open: ask for the status again, or wait for the notification.", "transaction pending"),
    Row("000.200.001", "Still open with the acquirer; the shopper has left and is not needed."),
    Row("000.200.100", "The checkout is ready for the payment form.", "successfully created checkout"),
    Row("000.200.101", "The checkout holds the new values.", "successfully updated checkout"),
    Row("000.200.102", "The checkout is gone and can no longer be paid."),
    Row("000.200.103", "The checkout waits for its payment to become final."),
    Row("000.200.200", "Prepared; the payment itself has not begun."),
    Row("000.200.201", "The shopper opened the link or scanned the code; the payment is yet to come."),
)

PENDING_LONG = (
    Row("100.400.500", "Open until the risk provider has decided."),
    Row("800.400.500", "Open until the money arrives, which may take days."),
    Row("800.400.501", "Open until the bank has collected the debit, which may take days."),
    Row("800.400.502", "Open until the bank has paid out the refund, which may take days."),
)

CHARGEBACK = (
    Row("000.100.200", "Disputed; the bank states no grounds."),
    Row("000.100.201", "Returned: the account details were not right."),
    Row("000.100.202", "Returned: the account no longer exists."),
    Row("000.100.203", "Returned: the account could not cover the amount."),
    Row("000.100.204", "Returned: there is no valid mandate behind it."),
    Row("000.100.205", "Returned: the mandate had been withdrawn."),
    Row("000.100.206", "Returned: the payer objects to it."),
    Row("000.100.207", "Returned: the clearing house cancelled it."),
    Row("000.100.208", "Returned: the account is frozen."),
    Row("000.100.209", "Returned: the account was never found."),
    Row("000.100.210", "Returned: the amount cannot be right."),
    Row("000.100.220", "Disputed as fraud."),
    Row("000.100.221", "Disputed: the shopper is still waiting for the goods."),
    Row("000.100.222", "Disputed: the shopper cannot place the entry on the statement."),
    Row("000.100.223", "Disputed: the service was never rendered."),
    Row("000.100.224", "Disputed: the shopper was charged a second time."),
    Row("000.100.225", "Disputed: a refund that was promised did not arrive."),
    Row("000.100.226", "The payment could not be settled."),
    Row("000.100.227", "The payment could not be settled because of the way the account is set up."),
    Row("000.100.228", "The payment could not be settled while the line was down; repeat it."),
    Row("000.100.229", "The payment could not be settled with the instructions given."),
    Row("000.100.230", "Disputed: nobody had authorised the charge."),
    Row("000.100.231", "The answer to the dispute arrived after the deadline."),
    Row("000.100.232", "The liability for the dispute has changed sides."),
    Row("000.100.233", "Disputed over its authorisation."),
    Row("000.100.234", "Disputed: the shipment did not reach the shopper."),
    Row("000.100.299", "Returned on technical grounds not stated."),
)
