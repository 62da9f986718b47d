"""What several stories share: the house they happen in, the route, the driver of connectors, chains and seals."""

from tollgate.steps.chaining import (
    get_payment,
    get_wire_word,
    make_deep_link,
    make_link,
    make_start_steps,
    make_terms,
    make_wish,
    plan_attempt,
    settle_decided,
    start_after,
)
from tollgate.steps.charging import charge, conclude, make_shopper_url
from tollgate.steps.desk import BankDesk
from tollgate.steps.directory import Directory
from tollgate.steps.dispatch import converse, dispatch
from tollgate.steps.house import SUCCESS_CODES, House, leave_alone
from tollgate.steps.ranges import RangeBook
from tollgate.steps.route import DirectoryRoute, Route, choose_directory, choose_route
from tollgate.steps.sealed_settings import (
    find_sealed_setting,
    list_retired_settings,
    put_sealed_setting,
    rewrap_settings,
)
from tollgate.steps.sealing import BrokenSeal, fits_case_seal, seal_case, seal_facts, settle_sealed, trust, trust_case
from tollgate.steps.wallets import open_wallet

__all__ = [
    "SUCCESS_CODES",
    "BankDesk",
    "BrokenSeal",
    "Directory",
    "DirectoryRoute",
    "House",
    "RangeBook",
    "Route",
    "charge",
    "choose_directory",
    "choose_route",
    "conclude",
    "converse",
    "dispatch",
    "find_sealed_setting",
    "fits_case_seal",
    "get_payment",
    "get_wire_word",
    "leave_alone",
    "list_retired_settings",
    "make_deep_link",
    "make_link",
    "make_shopper_url",
    "make_start_steps",
    "make_terms",
    "make_wish",
    "open_wallet",
    "plan_attempt",
    "put_sealed_setting",
    "rewrap_settings",
    "seal_case",
    "seal_facts",
    "settle_decided",
    "settle_sealed",
    "start_after",
    "trust",
    "trust_case",
]
