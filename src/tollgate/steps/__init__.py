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
from tollgate.steps.checkouts import (
    CHECKOUT_NOUN,
    find_any_checkout,
    get_open_checkout,
    get_own_checkout,
    name_checkout_owner,
    open_prepared,
    seal_prepared,
)
from tollgate.steps.desk import BankDesk
from tollgate.steps.directory import Directory
from tollgate.steps.dispatch import converse, dispatch
from tollgate.steps.house import (
    NO_SCRIPT,
    SUCCESS_CODES,
    House,
    leave_alone,
)
from tollgate.steps.lateness import (
    weigh_lateness,
)
from tollgate.steps.network_tokens import (
    TOKEN_NOUN,
    TokenVault,
    choose_token_vault,
    name_token_owner,
    use_network_token,
    wants_token,
)
from tollgate.steps.ranges import RangeBook
from tollgate.steps.registering import (
    REGISTRATION_NOUN,
    Registering,
    find_registration_change,
    find_same,
    get_registration,
    name_registration_owner,
    open_stored,
    prepare_registering,
    seal_registration,
    sign_mandate,
    start_registration,
)
from tollgate.steps.route import DirectoryRoute, Route, choose_directory, choose_route
from tollgate.steps.scheduling import (
    fits_schedule_seal,
    make_run_order,
    recall_cron,
    seal_schedule,
    trust_schedule,
    trust_times,
)
from tollgate.steps.sealed_settings import (
    find_sealed_setting,
    list_retired_settings,
    put_sealed_setting,
    rewrap_settings,
)
from tollgate.steps.sealing import BrokenSeal, fits_case_seal, seal_case, seal_facts, settle_sealed, trust, trust_case
from tollgate.steps.wallets import open_wallet

__all__ = [
    "CHECKOUT_NOUN",
    "NO_SCRIPT",
    "REGISTRATION_NOUN",
    "SUCCESS_CODES",
    "TOKEN_NOUN",
    "BankDesk",
    "BrokenSeal",
    "Directory",
    "DirectoryRoute",
    "House",
    "RangeBook",
    "Registering",
    "Route",
    "TokenVault",
    "charge",
    "choose_directory",
    "choose_route",
    "choose_token_vault",
    "conclude",
    "converse",
    "dispatch",
    "find_any_checkout",
    "find_registration_change",
    "find_same",
    "find_sealed_setting",
    "fits_case_seal",
    "fits_schedule_seal",
    "get_open_checkout",
    "get_own_checkout",
    "get_payment",
    "get_registration",
    "get_wire_word",
    "leave_alone",
    "list_retired_settings",
    "make_deep_link",
    "make_link",
    "make_run_order",
    "make_shopper_url",
    "make_start_steps",
    "make_terms",
    "make_wish",
    "name_checkout_owner",
    "name_registration_owner",
    "name_token_owner",
    "open_prepared",
    "open_stored",
    "open_wallet",
    "plan_attempt",
    "prepare_registering",
    "put_sealed_setting",
    "recall_cron",
    "rewrap_settings",
    "seal_case",
    "seal_facts",
    "seal_prepared",
    "seal_registration",
    "seal_schedule",
    "settle_decided",
    "settle_sealed",
    "sign_mandate",
    "start_after",
    "start_registration",
    "trust",
    "trust_case",
    "trust_schedule",
    "trust_times",
    "use_network_token",
    "wants_token",
    "weigh_lateness",
]
