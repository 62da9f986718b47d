"""The simulated issuer's pages: the hidden frame that looks at the device, and the challenge where the shopper decides.

The result goes to the 3DS server first; what the browser carries back only says that it is over.
"""

from __future__ import annotations

from pathlib import Path

from tollgate.connectors import threeds
from tollgate.flows.resume import hear_result
from tollgate.operations.app import App
from tollgate.sandbox import challenges
from tollgate.store.simulated_sessions import move_simulated_session
from tollgate.web import ANYWHERE, Access, Pages, Reply, Request, RouteRow

_PAGES = Pages(Path(__file__).parent / "pages")
_SESSION_LENGTH_MAX = 1024


async def visit_method(request: Request, app: App) -> Reply:
    """A real issuer would run scripts that look at the device; ours has seen enough at once.

    It reports to this host only, lest anybody uses it to send browsers elsewhere.
    """
    frame = threeds.unwrap(request.find("threeDSMethodData"), threeds.MethodFrame)
    url = (frame and frame.three_ds_method_notification_url) or ""
    if frame is None or not url.startswith(f"{app.base_url}/"):
        return _show_end("No device check", "The fields of the hidden frame are not as they should be.", 400)
    told = threeds.wrap(threeds.MethodFrame(three_ds_server_trans_id=frame.three_ds_server_trans_id))
    return _forward("Device check", "Your device was looked at.", url, {"threeDSMethodData": told})


async def show_challenge(request: Request, app: App) -> Reply:
    found = await challenges.find_challenge(app.database, app.keyring, request.names[0])
    return _show_nothing() if found is None else await _show(found, request, app)


async def answer_challenge(request: Request, app: App) -> Reply:
    """A post with the request of the 3DS server opens the page; one with the shopper's answer ends it."""
    found = await challenges.find_challenge(app.database, app.keyring, request.names[0])
    if found is None or not _is_meant(request, found):
        return _show_nothing()
    status = _choose_status(request, found)
    if status is not None and found.ending is None:
        # Whoever is first decides: another tab or the back button shows the end that was chosen.
        await move_simulated_session(app.database, found.row, status)
        found = await challenges.find_challenge(app.database, app.keyring, request.names[0]) or found
    return await _show(found, request, app)


def _is_meant(request: Request, found: challenges.OpenChallenge) -> bool:
    text = request.find("creq")
    message = threeds.unwrap(text, threeds.CReq)
    named = message and (message.three_ds_server_trans_id, message.acs_trans_id)
    return not text or named == (found.challenge.server_id, found.challenge.acs_id)


def _choose_status(request: Request, found: challenges.OpenChallenge) -> str | None:
    """How it ends, or how many wrong codes were given; None: nothing was answered."""
    code, one_time_code = request.find("returnCode"), request.find("otp")
    if code in challenges.ENDINGS:
        return code
    if not one_time_code:
        return None
    if one_time_code.strip() == challenges.ONE_TIME_CODE:
        return challenges.AUTHENTICATED
    tries = found.tries + 1
    return challenges.TOO_MANY_TRIES if tries >= challenges.TRIES_MAX else str(tries)


async def _show(found: challenges.OpenChallenge, request: Request, app: App) -> Reply:
    session = request.find("threeDSSessionData")[:_SESSION_LENGTH_MAX]
    if found.ending is not None:
        return await _end(found, found.ending, session, app)
    challenge = found.challenge
    return _PAGES.render(
        "challenge.html",
        framed_by=ANYWHERE,
        title="Confirm your payment",
        merchant=challenge.merchant,
        amount=challenge.render_amount(),
        last_digits=challenge.last_digits,
        endings=challenges.ENDINGS,
        code=challenges.ONE_TIME_CODE,
        tries_left=challenges.TRIES_MAX - found.tries,
        is_wrong=found.tries > 0,
        session=session,
    )


async def _end(found: challenges.OpenChallenge, code: str, session: str, app: App) -> Reply:
    """The result is told again whenever the end is shown: a process may have died before, and twice counts once."""
    challenge, ending = found.challenge, challenges.ENDINGS[code]
    await hear_result(app, challenge.shopper_token, challenges.make_result(challenge, ending))
    if challenge.notification_url is None:
        return _show_end(ending.label, "You may close this window.")
    fields = {"cres": challenges.make_browser_answer(challenge, ending)}
    if session:
        fields["threeDSSessionData"] = session
    return _forward(ending.label, "You are brought back to the shop.", challenge.notification_url, fields)


def _forward(title: str, text: str, url: str, fields: dict[str, str]) -> Reply:
    return _PAGES.render(
        "forward.html",
        form_targets=(url,),
        framed_by=ANYWHERE,
        title=title,
        text=text,
        url=url,
        method="post",
        fields=fields,
    )


def _show_end(title: str, text: str, status: int = 200) -> Reply:
    return _PAGES.render("end.html", framed_by=ANYWHERE, title=title, text=text, link="", status=status)


def _show_nothing() -> Reply:
    return _show_end("No such challenge", "The address is not complete, or the challenge is long over.", 404)


ROUTES = (
    RouteRow(
        method="POST",
        path="/sandbox/acs/method",
        operation="visit_method",
        summary="The simulated issuer looks at the shopper's device in a hidden frame.",
        access=Access.OPEN,
        handler=visit_method,
    ),
    RouteRow(
        method="GET",
        path="/sandbox/acs/challenge/{token}",
        operation="show_challenge",
        summary="The simulated issuer's challenge page of one authentication.",
        access=Access.OPEN,
        handler=show_challenge,
        hides_path=True,
    ),
    RouteRow(
        method="POST",
        path="/sandbox/acs/challenge/{token}",
        operation="answer_challenge",
        summary="Open the simulated issuer's challenge with a `creq`, or end it with a `returnCode` or an `otp`.",
        access=Access.OPEN,
        handler=answer_challenge,
        hides_path=True,
    ),
)
