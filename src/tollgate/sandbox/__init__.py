"""What exists on a test host only: the simulated acquirer, the test clock, the sandbox merchant.

Live hosts never import it.
"""

from tollgate.sandbox import clock, disputes
from tollgate.sandbox.acquirer import SimulatedAcquirer
from tollgate.sandbox.tenant import Tenant, Welcome, ensure_tenant, welcome

ROUTES = (*clock.ROUTES, *disputes.ROUTES)

__all__ = ["ROUTES", "SimulatedAcquirer", "Tenant", "Welcome", "ensure_tenant", "welcome"]
