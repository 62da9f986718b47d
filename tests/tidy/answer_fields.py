"""Names that only answers carry, which the contract may spell too. Parameters of requests are in the catalogue."""

from __future__ import annotations

ANSWER_FIELDS = frozenset(
    {
        # the envelope of every answer
        "buildNumber",
        "parameterErrors",
        # a file of an acquirer about receipts and disputes
        "resultCode",
        # a payment as the merchant reads it
        "last4Digits",
        "referencedId",
        "resultDetails",
        "linkedTransactions",
        "paymentMethod",
        # a payment as an event shows it
        "presentationAmount",
        "presentationCurrency",
        "channelName",
        # a registration whose life was extended
        "keptUntil",
        # a schedule, its plan and its runs
        "nextRun",
        "endedBy",
        "paymentId",
        "runsSkipped",
        # an endpoint for webhooks
        "latencyMs",
        "oldestPending",
        "pendingDeliveries",
        "resultGroups",
        "signingSecret",
        # a payment link
        "qrCode",
        "paymentLinks",
        "paymentLinkId",
        "merchantId",
        "creationDate",
        "checkoutId",
        "checkoutCreationDate",
        "transactionId",
        # what the payment form receives
        "isPaid",
        "isTest",
        "leftOut",
        "merchantName",
        "gatewayMerchantId",
        "attemptsLeft",
        "ibanLengths",
        "accountName",
        "requiresCvv",
        "resultUrl",
        "returnUrl",
        "directDebit",
        "onlineTransfer",
        "cvvLength",
        "last4",
        # 3-D Secure, in the words of its messages
        "threeDSMethodData",
        # settlement reports
        "grossAmount",
        "refundAmount",
        "chargebackAmount",
        "chargebackReversalAmount",
        "netAmount",
        "settlementTxDate",
        "matchedTransactions",
    }
)
