"""The simulated provider's page, where a person approves, declines, cancels or walks away. It decides once.

The gateway asks what was decided; the browser does not say it.
"""

from decimal import Decimal
from hmac import compare_digest
from pathlib import Path

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.limits import LIMITS
from tollgate.operations.app import App
from tollgate.sandbox.provider import MESSAGES, Session, Status, find_session
from tollgate.store.simulated_sessions import move_simulated_session
from tollgate.values import MINUTE
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Reply, Request, Routes

_PAGES = Pages(Path(__file__).parent / "pages")

_DECISIONS = {"approve": Status.APPROVED, "decline": Status.DECLINED, "cancel": Status.CANCELLED}


ROUTES = Routes()


@ROUTES.add("GET", "/sandbox/provider/{token}", "show_provider", Access.OPEN, hides_path=True)
async def show_provider(request: Request, app: App) -> Reply:
    """Shows the simulated provider's page of one payment."""
    session = await _find(request, app)
    return _show_nothing() if session is None else _show(session)


@ROUTES.add("POST", "/sandbox/provider/{token}", "decide_at_provider", Access.OPEN, hides_path=True)
async def decide_at_provider(request: Request, app: App) -> Reply:
    """Approves, declines or cancels on the simulated provider's page.

    A post without a `decision` comes from a shop that opens the page that way.
    """
    session = await _find(request, app)
    if session is None:
        return _show_nothing()
    decision = next((_DECISIONS.get(value) for name, value in request.pairs if name == "decision"), None)
    if decision is None or session.status is not Status.OPEN:
        return _show(session)
    if await move_simulated_session(app.database, session.row, decision):
        # No redirect: it would lead on to the shop, and a form's page says beforehand where its form may lead.
        return _PAGES.render(
            "leave.html",
            framed_by=ANYWHERE,
            title=MESSAGES[decision],
            text="Back to the shop.",
            url=session.body.back_url,
        )
    decided = await _find(request, app)
    return _show_nothing() if decided is None else _show(decided)


async def _find(request: Request, app: App) -> Session | None:
    """Finds a session by both halves of its token; the first alone, a payment's id, is no secret."""
    key, _, secret = request.names[0].rpartition("-")
    if "-" in key:
        # Challenges are remembered in the same table under names of their own.
        return None
    session = await find_session(app.database, key, app.clock)
    if session is None or not session.body.secret:
        return None
    return session if compare_digest(session.body.secret.encode(), secret.encode()) else None


def _show(session: Session) -> Reply:
    body = session.body
    if session.status is not Status.OPEN:
        text = "Nothing is left to decide here."
        return _PAGES.render(
            "end.html", framed_by=ANYWHERE, title=MESSAGES[session.status], text=text, link=body.back_url
        )
    exponent = CURRENCIES[body.currency].exponent
    return _PAGES.render(
        "provider.html",
        # Shops may show a provider within their own page.
        framed_by=ANYWHERE,
        title=BRANDS[body.brand].label,
        merchant=body.merchant,
        amount=f"{Decimal(body.amount).scaleb(-exponent):.{exponent}f} {body.currency}",
        reference=body.reference,
        account=body.account_id,
        minutes=LIMITS.simulated_session_lifetime // MINUTE,
    )


def _show_nothing() -> Reply:
    text = "The address is not complete, or the session is long over."
    return _PAGES.render("end.html", framed_by=ANYWHERE, title="No such session", text=text, link="", status=404)
