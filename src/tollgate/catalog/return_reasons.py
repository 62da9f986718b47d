"""The reasons for which banks return debits and credits (ISO 20022), and the chargeback code of each.
What a return moves is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ReturnReason:
    code: str
    text: str
    notice: str
    """The result code of the chargeback."""


_ROWS = (
    ReturnReason("AC01", "the account number is wrong", "000.100.201"),
    ReturnReason("AC03", "the account number of the payee is wrong", "000.100.201"),
    ReturnReason("AC04", "the account is closed", "000.100.202"),
    ReturnReason("AC06", "the account is blocked", "000.100.208"),
    ReturnReason("AC13", "the account belongs to a business", "000.100.227"),
    ReturnReason("AG01", "the account takes no such payments", "000.100.227"),
    ReturnReason("AG02", "the bank does not know the operation", "000.100.299"),
    ReturnReason("AM01", "the amount is zero", "000.100.210"),
    ReturnReason("AM02", "the amount is more than permitted", "000.100.210"),
    ReturnReason("AM04", "the account does not cover it", "000.100.203"),
    ReturnReason("AM05", "it came twice", "000.100.224"),
    ReturnReason("AM09", "the amount is not the one agreed", "000.100.210"),
    ReturnReason("BE01", "the name does not fit the account", "000.100.201"),
    ReturnReason("BE05", "the creditor is not known", "000.100.204"),
    ReturnReason("CNOR", "the payee's bank takes no part", "000.100.229"),
    ReturnReason("DNOR", "the payer's bank takes no part", "000.100.229"),
    ReturnReason("DT01", "the date is not possible", "000.100.229"),
    ReturnReason("DUPL", "it came twice", "000.100.224"),
    ReturnReason("ED05", "settlement failed", "000.100.226"),
    ReturnReason("FF01", "the file is malformed", "000.100.299"),
    ReturnReason("FF05", "the scheme is not known", "000.100.299"),
    ReturnReason("FOCR", "somebody asked for it back", "000.100.207"),
    ReturnReason("FRAD", "fraud", "000.100.220"),
    ReturnReason("MD01", "there is no mandate", "000.100.204"),
    ReturnReason("MD02", "the mandate is incomplete", "000.100.204"),
    ReturnReason("MD06", "the payer wants it back", "000.100.206"),
    ReturnReason("MD07", "the payer has died", "000.100.202"),
    ReturnReason("MS02", "the payer refuses and does not say why", "000.100.206"),
    ReturnReason("MS03", "the bank refuses and does not say why", "000.100.200"),
    ReturnReason("NARR", "told in words alone", "000.100.200"),
    ReturnReason("RC01", "the bank is not known", "000.100.201"),
    ReturnReason("RR01", "the payer's account or number is missing", "000.100.299"),
    ReturnReason("RR02", "the payer's name or address is missing", "000.100.299"),
    ReturnReason("RR03", "the payee's name or address is missing", "000.100.299"),
    ReturnReason("RR04", "the authorities", "000.100.299"),
    ReturnReason("SL01", "the payer blocked this creditor", "000.100.205"),
    ReturnReason("TECH", "a technical problem", "000.100.299"),
    ReturnReason("TM01", "it came too late in the day", "000.100.229"),
)

RETURN_REASONS: Mapping[str, ReturnReason] = MappingProxyType({row.code: row for row in _ROWS})

UNLISTED_NOTICE = "000.100.200"


def get_notice(reason: str) -> str:
    """Returns the code of the chargeback; a reason that is not listed has the general one."""
    row = RETURN_REASONS.get(reason)
    return row.notice if row else UNLISTED_NOTICE
