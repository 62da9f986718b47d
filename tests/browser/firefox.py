"""Debian's Firefox, driven over WebDriver BiDi: one program for all tests, and cookies of its own for each tab.

It does what a shopper does, by real keys and clicks; what a page shows is read by scripts in it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp

from cleaning import end_with_parent

PROGRAMS = ("firefox-esr", "firefox")
PATIENCE_S = 120.0
PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "ui.prefersReducedMotion": 1,
}
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")

Answer = TypeVar("Answer")


class BrowserFault(Exception):
    """Firefox refused a command."""


def wait_until(ask: Callable[[], Answer | None], what: str) -> Answer:
    """Returns the first answer that is true. While a page changes, questions to it may fail."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with suppress(BrowserFault):
            if answer := ask():
                return answer
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


@dataclass
class Firefox:
    """Playwright keeps the event loop of the main thread, so the connection lives in a thread of its own."""

    folder: Path
    complaints: list[str] = field(default_factory=list)
    """The errors that scripts of pages ended with."""
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _asked: dict[int, asyncio.Future[Any]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        assert program is not None, "no Firefox is installed: make machine"
        profile, log = self.folder / "profile", self.folder / "firefox.log"
        profile.mkdir()
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        (profile / "user.js").write_text("\n".join(lines))
        command = [program, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
        environment = {**os.environ, "HOME": str(self.folder)}
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env=environment, preexec_fn=end_with_parent
            )
        found = wait_until(lambda: LISTENING.search(log.read_text(errors="replace")), "Firefox to start")
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._connect(found[1]))
        self.tell("session.new", capabilities={})
        self.tell("session.subscribe", events=["log.entryAdded"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._disconnect())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._process.terminate()
        self._process.wait()

    def tell(self, method: str, **parameters: Any) -> Any:
        return self._run(self._tell(method, parameters))

    def open_tab(self) -> Tab:
        user = self.tell("browser.createUserContext")["userContext"]
        return Tab(self, self.tell("browsingContext.create", type="tab", userContext=user)["context"])

    def _run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _connect(self, address: str) -> None:
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(f"{address}/session", max_msg_size=0)
        self._hearing = asyncio.create_task(self._hear())

    async def _disconnect(self) -> None:
        await self._socket.close()
        await self._hearing
        await self._session.close()

    async def _hear(self) -> None:
        async for message in self._socket:
            received = json.loads(message.data)
            if received["type"] == "event":
                entry = received["params"]
                # The shops of the tests allow no picture of their own, and Firefox asks for an icon all the same.
                if (entry["type"], entry["level"]) == ("javascript", "error") and "favicon.ico" not in entry["text"]:
                    self.complaints.append(entry["text"])
            elif received["type"] == "error":
                self._asked.pop(received["id"]).set_exception(BrowserFault(received["error"], received["message"]))
            else:
                self._asked.pop(received["id"]).set_result(received["result"])

    async def _tell(self, method: str, parameters: dict[str, Any]) -> Any:
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        asked = self._asked[number]
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asked


@dataclass(frozen=True)
class Tab:
    """A page in a tab, a window, or a frame."""

    firefox: Firefox
    context: str

    def goto(self, url: str) -> None:
        self.firefox.tell("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def frame(self, word: str) -> Tab:
        """Returns the frame within, at any depth, whose address contains this word."""

        def find() -> str | None:
            below = self.firefox.tell("browsingContext.getTree", root=self.context)["contexts"]
            while below:
                context = below.pop()
                if word in context["url"] and context["context"] != self.context:
                    found: str = context["context"]
                    return found
                below.extend(context["children"])
            return None

        return Tab(self.firefox, wait_until(find, f"a frame {word}"))

    def popup(self) -> Tab:
        """Returns the window that this page has opened."""

        def find() -> str | None:
            windows = self.firefox.tell("browsingContext.getTree", maxDepth=0)["contexts"]
            opened: list[str] = [each["context"] for each in windows if each["originalOpener"] == self.context]
            return opened[0] if opened else None

        return Tab(self.firefox, wait_until(find, "a window"))

    def read(self, expression: str) -> Any:
        """`expression` is JavaScript whose value JSON can represent."""
        received = self.firefox.tell(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((value) => JSON.stringify(value))",
            target={"context": self.context},
            awaitPromise=True,
        )
        if received["type"] == "exception":
            raise BrowserFault(received["exceptionDetails"]["text"])
        return json.loads(received["result"].get("value", "null"))

    def wait_for(self, expression: str) -> None:
        wait_until(lambda: self.read(expression), expression)

    def click(self, selector: str) -> None:
        node = wait_until(lambda: self._locate(selector), selector)
        where = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": node}}
        press = [where, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": press}
        self.firefox.tell("input.performActions", context=self.context, actions=[mouse])

    def type(self, selector: str, text: str) -> None:
        """Types key by key, where the mouse has put the cursor."""
        self.click(selector)
        keys = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keys", "actions": keys}
        self.firefox.tell("input.performActions", context=self.context, actions=[keyboard])

    def shoot(self, selector: str) -> str:
        """Returns a picture of the first element of these, as the text of a PNG in base64."""
        clip = {"type": "element", "element": wait_until(lambda: self._locate(selector), selector)}
        received: dict[str, str] = self.firefox.tell(
            "browsingContext.captureScreenshot", context=self.context, clip=clip
        )
        return received["data"]

    def _locate(self, selector: str) -> Any:
        """Returns the first element of these that is shown, brought into view."""
        received = self.firefox.tell(
            "script.evaluate",
            expression=f"""(() => {{
              const all = [...document.querySelectorAll({json.dumps(selector)})];
              const found = all.find((each) => each.checkVisibility());
              found?.scrollIntoView({{ block: "center", behavior: "instant" }});
              return found ?? null;
            }})()""",
            target={"context": self.context},
            awaitPromise=False,
        )
        return {"sharedId": received["result"]["sharedId"]} if received["result"].get("sharedId") else None
