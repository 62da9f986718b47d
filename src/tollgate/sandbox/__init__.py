"""What exists on a test host only: the simulated acquirer, the test clock, the sandbox merchant.

Live hosts never import it.
"""

from tollgate.sandbox.acquirer import SimulatedAcquirer
from tollgate.sandbox.misbehaving import Misbehaving
from tollgate.sandbox.provider import SimulatedProvider
from tollgate.sandbox.routes import ROUTES
from tollgate.sandbox.simulator import make_simulator
from tollgate.sandbox.tenant import Tenant, Welcome, ensure_tenant, welcome
from tollgate.sandbox.wallets import TokenRequest, make_wallet_token

__all__ = [
    "ROUTES",
    "Misbehaving",
    "SimulatedAcquirer",
    "SimulatedProvider",
    "Tenant",
    "TokenRequest",
    "Welcome",
    "ensure_tenant",
    "make_simulator",
    "make_wallet_token",
    "welcome",
]
