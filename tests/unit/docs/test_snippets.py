"""Values keep every character in the programs of each language, whatever they contain."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from programs import run_programs
from tollgate.docs.calls import Call
from tollgate.docs.snippets import LANGUAGES, Language, Piece, get_placeholder, join_pieces, render_snippet

HOSTILE = {
    "quotes": "'single' \"double\" `back` ''' \"\"\"",
    "shell": "$(touch pwned) ${HOME} $HOME !! ~ * ; | & > <",
    "backslashes": "\\ \\\\ \\n \\u0041 \\x41 \\' \\\" \\",
    "lines": "one\ntwo\r\nthree\tfour\n",
    "signs": "a+b&c=d%20e#f?g/h@i:j,k;l",
    "letters": "Zürich, Łódź, 東京, नमस्ते, \u2028, \U0001f600",
    "code": "<?php echo 1 ?> {$x} #{X} %s {0} // */ /* ${Y}",
    "file": "@/etc/passwd",
    "blank": "",
    "name of a hole": "{token} and {Token} and {}",
}
"""A hole is filled by the reader's value, and every other brace stays."""


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the values that it was sent, as they arrived."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.received.append(dict(parse_qsl(body, keep_blank_values=True)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_words: object) -> None:
        """Is silent."""


@pytest.fixture
def echo() -> Iterator[http.server.HTTPServer]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.received = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.id)
def test_hostile_values_arrive_as_they_are(language: Language, echo: http.server.HTTPServer, tmp_path: Path) -> None:
    call = Call(
        method="POST",
        path="/echo",
        headers=(("Content-Type", "application/x-www-form-urlencoded"),),
        pairs=tuple((f"x[{name}]", value) for name, value in HOSTILE.items()),
    )
    program = join_pieces(render_snippet(language, call, f"http://127.0.0.1:{echo.server_port}"), {"token": "dG9rZW4="})

    printed = run_programs(language.id, {"hostile": program}, tmp_path, language.suffix)

    assert printed["hostile"].strip() == "ok"
    (received,) = echo.received  # type: ignore[attr-defined]
    expected = {f"x[{name}]": value.replace("{token}", "dG9rZW4=") for name, value in HOSTILE.items()}
    assert received == expected
    assert not Path("pwned").exists()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.id)
def test_a_program_names_what_its_reader_must_put_in(language: Language) -> None:
    call = Call(
        method="POST",
        path="/v1/payments/{id}",
        headers=(("Authorization", "Bearer {token}"),),
        pairs=(("entityId", "{entity}"), ("amount", "1.00")),
    )

    pieces = render_snippet(language, call, "https://gateway.example")

    holes = [piece for piece in pieces if piece.hole]
    assert {piece.hole for piece in holes} == {"id", "token", "entity"}
    assert Piece("YOUR_TOKEN", "token") in holes
    assert all(piece.text == get_placeholder(piece.hole) for piece in holes)
    assert "https://gateway.example/v1/payments/YOUR_ID" in join_pieces(pieces, {})
