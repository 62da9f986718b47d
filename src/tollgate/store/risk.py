"""The risk rules with their versions. What they mean is decided elsewhere."""

import sqlalchemy as sa

# This spelling of ON CONFLICT compiles for both databases.
from tollgate.payments.risk import Rule
from tollgate.store.codec import Codec, bind
from tollgate.store.database import Database
from tollgate.store.merchants import change_merchants
from tollgate.store.schema import risk_rules
from tollgate.store.statements import Statement
from tollgate.values import MerchantId

RULES = Codec(risk_rules, Rule, key=["merchant_id", "id", "version"])
_insert_rule = RULES.insert(ignores_taken_key=True)
_others = risk_rules.alias("others")
_is_newest = risk_rules.c.version == (
    sa.select(sa.func.max(_others.c.version))
    .where(_others.c.merchant_id == risk_rules.c.merchant_id, _others.c.id == risk_rules.c.id)
    .scalar_subquery()
)
_is_of_merchant = risk_rules.c.merchant_id == bind("of", risk_rules.c.merchant_id)
_is_rule = risk_rules.c.id == bind("of", risk_rules.c.id)
_in_order = (risk_rules.c.merchant_id, risk_rules.c.created_at, risk_rules.c.id)
_newest_rules = Statement(RULES.select(_is_newest).order_by(*_in_order))
_rules_of_merchant = Statement(RULES.select(_is_of_merchant, _is_newest).order_by(*_in_order))
_versions = Statement(RULES.select(_is_of_merchant, _is_rule).order_by(risk_rules.c.version))


async def list_all_rules(db: Database) -> list[Rule]:
    """Lists the newest version of each rule of all merchants."""
    return await RULES.fetch(db, _newest_rules, {})


async def list_rules(db: Database, merchant_id: MerchantId) -> list[Rule]:
    """Lists the newest version of each rule, in the order of their last change."""
    return await RULES.fetch(db, _rules_of_merchant, {"of_merchant_id": merchant_id})


async def list_versions(db: Database, merchant_id: MerchantId, rule_id: str) -> list[Rule]:
    """Lists all versions of a rule, the first one first."""
    return await RULES.fetch(db, _versions, {"of_merchant_id": merchant_id, "of_id": rule_id})


async def insert_rule(db: Database, rule: Rule) -> bool:
    """Returns False if the version exists already."""
    return await change_merchants(db, _insert_rule(rule))
