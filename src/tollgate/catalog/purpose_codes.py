"""The money transfers that need a purpose code. The meaning of a code is between the merchant and the acquirer."""

PURPOSE_CODE_COUNTRIES: frozenset[str] = frozenset()
"""Recipients' countries (alpha-3) to which no money is transferred without a purpose code.

Schemes and acquirers differ in this, so none is listed until the acquirer of a host asks for it.
"""
