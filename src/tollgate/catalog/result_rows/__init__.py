"""Result codes as rows, a table per group of codes. No logic and no HTTP here: `results` joins the tables."""

from collections.abc import Mapping

from tollgate.catalog.result_rows.account import ACCOUNT, AMOUNT, REGISTRATION
from tollgate.catalog.result_rows.approved import CHARGEBACK, PENDING, PENDING_LONG, REVIEW, SUCCESS
from tollgate.catalog.result_rows.authentication import ABANDONED, AUTHENTICATION, NO_AUTHENTICATION, SOFT_DECLINE
from tollgate.catalog.result_rows.declined import ADDRESS_MISMATCH, BANK, BLOCK_LIST, ISSUER_ADVICE, VELOCITY
from tollgate.catalog.result_rows.person import ADDRESS, CONTACT
from tollgate.catalog.result_rows.reference import REFERENCE
from tollgate.catalog.result_rows.request import CONFIGURATION, FORMAT, SCHEDULE
from tollgate.catalog.result_rows.risk import RISK, RISK_REQUEST
from tollgate.catalog.result_rows.row import Row
from tollgate.catalog.result_rows.trouble import COMMUNICATION, SYSTEM

ROWS_BY_GROUP: Mapping[str, tuple[Row, ...]] = {
    "success": SUCCESS,
    "success_review": REVIEW,
    "pending": PENDING,
    "pending_long": PENDING_LONG,
    "soft_decline_sca": SOFT_DECLINE,
    "rejected_3ds_intercard_risk": NO_AUTHENTICATION,
    "rejected_by_bank": BANK,
    "comm_error": COMMUNICATION,
    "system_error": SYSTEM,
    "async_error": ABANDONED,
    "risk_external": RISK,
    "address_avs": ADDRESS_MISMATCH,
    "rejected_3ds": AUTHENTICATION,
    "blacklist": BLOCK_LIST,
    "risk_validation": VELOCITY,
    "config_validation": CONFIGURATION,
    "registration_validation": REGISTRATION,
    "job_validation": SCHEDULE,
    "reference_validation": REFERENCE,
    "mac_control": ISSUER_ADVICE,
    "format_validation": FORMAT,
    "address_validation": ADDRESS,
    "contact_validation": CONTACT,
    "account_validation": ACCOUNT,
    "amount_validation": AMOUNT,
    "risk_mgmt_validation": RISK_REQUEST,
    "chargeback": CHARGEBACK,
}

__all__ = ["ROWS_BY_GROUP"]
