"""Names that only answers carry, which the contract may spell too. Parameters of requests are in the catalogue."""

from __future__ import annotations

ANSWER_FIELDS = frozenset(
    {
        # the envelope of every answer
        "buildNumber",
        "parameterErrors",
        "ndc",
        # a payment as the merchant reads it
        "referencedId",
        "resultDetails",
        "shortId",
        "paymentMethod",
        "presentationAmount",
        "presentationCurrency",
        "channelName",
        "card.bin",
        "card.last4Digits",
        "last4Digits",
        "avsResponse",
        "cvvResponse",
        # what the acquirer said, under resultDetails
        "ExtendedDescription",
        "AcquirerResponse",
        "ConnectorTxID1",
        "ConnectorTxID2",
        "ConnectorTxID3",
        "clearingInstituteName",
        "connectorId",
        # the list of result codes, and reports
        "resultCodes",
        "httpStatus",
    }
)
