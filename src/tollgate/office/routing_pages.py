"""The modules of the pages about routing and risk, joined. Each declares its own rows."""

from tollgate.office import acquirer_accounts, reviews, risk, risk_lists, routing

MODULES = (routing, acquirer_accounts, risk, risk_lists, reviews)
