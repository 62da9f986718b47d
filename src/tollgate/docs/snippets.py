"""Requests written as programs: curl, Python, PHP, Node and Java, without any library to install.

Which requests are shown is decided by the examples of the catalogue.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote

import msgspec

from tollgate.catalog.examples import BASE, Pairs
from tollgate.docs.calls import HOLE, Call

# A value cannot contain it, because the interface takes no control characters.
_MARK = "\x00"
_MARKED = re.compile(f"{_MARK}([a-z]+){_MARK}")
_URL_NAME = "[]._-"
_PLAIN = re.compile(r"[\w.:/{}-]*", re.ASCII)
_PLACEHOLDERS = {"entity": "YOUR_ENTITY_ID", "token": "YOUR_TOKEN"}
_CONTENT_TYPE = "Content-Type"


class Piece(msgspec.Struct, frozen=True):
    """A piece of a program: text, or the placeholder of a hole that the reader's own value replaces."""

    text: str
    hole: str = ""


class Writer(msgspec.Struct, frozen=True):
    """Writes the literals of a language."""

    quote: str
    escape: Callable[[str], str]

    def put(self, text: str) -> str:
        """Returns a literal; its holes are marked, and are filled with letters, digits and signs of addresses."""
        return f"{self.quote}{_escape_around_holes(text, self.escape)}{self.quote}"


class Language(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    suffix: str
    write: Callable[[Call, str], str]
    """Writes a call to the host whose address is given."""


def _escape_around_holes(text: str, escape: Callable[[str], str]) -> str:
    pieces = HOLE.split(text)
    return "".join(f"{_MARK}{piece}{_MARK}" if place % 2 else escape(piece) for place, piece in enumerate(pieces))


def _escape_shell(text: str) -> str:
    return text.replace("'", "'\\''")


def _escape_php(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _escape_text(text: str) -> str:
    """Escapes for Python and JavaScript, whose literals contain those of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _escape_java(text: str) -> str:
    # In ASCII, because older compilers do not read source files as UTF-8.
    return json.dumps(text)[1:-1]


_SHELL = Writer("'", _escape_shell)
_PYTHON = Writer('"', _escape_text)
_PHP = Writer("'", _escape_php)
_JAVA = Writer('"', _escape_java)


def _indent(lines: Iterable[str], by: int) -> Iterator[str]:
    return (f"{' ' * by}{line}" for line in lines)


def _put_pairs(pairs: Pairs, writer: Writer, between: str) -> list[str]:
    return [f"{writer.put(name)}{between}{writer.put(value)}," for name, value in pairs]


def _get_url(call: Call, base_url: str) -> str:
    """Returns the address, up to the query that a program appends."""
    return f"{base_url}{call.path}{'?' if call.has_query else ''}"


def _write_curl(call: Call, base_url: str) -> str:
    url = base_url + call.path
    command = ["curl"]
    if not call.has_body:
        command += ["--get"] if call.pairs else []
        command += [] if call.method == "GET" else [f"-X {call.method}"]
    elif not call.pairs:
        command += ["-X POST"]
    first = " ".join((*command, _escape_around_holes(url, str) if _PLAIN.fullmatch(url) else _SHELL.put(url)))
    headers = [f"-H {_SHELL.put(f'{name}: {value}')}" for name, value in call.headers if name != _CONTENT_TYPE]
    fields = [_write_curl_field(quote(name, _URL_NAME), value) for name, value in call.pairs]
    return " \\\n  ".join((first, *headers, *fields)) + "\n"


def _write_curl_field(name: str, value: str) -> str:
    is_plain = _PLAIN.fullmatch(value) is not None
    return f"{'-d' if is_plain else '--data-urlencode'} {_SHELL.put(f'{name}={value}')}"


def _write_python(call: Call, base_url: str) -> str:
    arguments = [f"{_PYTHON.put(_get_url(call, base_url))}{' + urlencode(parameters)' if call.has_query else ''},"]
    if call.has_body:
        arguments.append("data=urlencode(parameters).encode()," if call.pairs else 'data=b"",')
    else:
        arguments.append(f'method="{call.method}",')
    headers = [pair for pair in call.headers if pair[0] != _CONTENT_TYPE]
    if headers:
        arguments += ["headers={", *_indent(_put_pairs(tuple(headers), _PYTHON, ": "), 4), "},"]
    lines = [
        "from urllib.error import HTTPError",
        *(["from urllib.parse import urlencode"] if call.pairs else []),
        "from urllib.request import Request, urlopen",
        "",
        *(["parameters = {", *_indent(_put_pairs(call.pairs, _PYTHON, ": "), 4), "}"] if call.pairs else []),
        *["request = Request(", *_indent(arguments, 4), ")"],
        *["try:", "    reply = urlopen(request)"],
        *["except HTTPError as refused:", "    reply = refused  # a decline has a body too"],
        "print(reply.read().decode())",
    ]
    return "\n".join(lines) + "\n"


def _write_php(call: Call, base_url: str) -> str:
    options = [f"'method' => {_PHP.put(call.method)},"]
    if call.headers:
        shown = (f"{_PHP.put(f'{name}: {value}')}," for name, value in call.headers)
        options += ["'header' => [", *_indent(shown, 4), "],"]
    if call.has_body and call.pairs:
        options.append("'content' => http_build_query($parameters),")
    options.append("'ignore_errors' => true, // a decline has a body too")
    url = _PHP.put(_get_url(call, base_url))
    if call.has_query:
        url += " . http_build_query($parameters)"
    lines = [
        "<?php",
        *(["$parameters = [", *_indent(_put_pairs(call.pairs, _PHP, " => "), 4), "];"] if call.pairs else []),
        *["$context = stream_context_create(['http' => [", *_indent(options, 4), "]]);"],
        f"$reply = file_get_contents({url}, false, $context);",
        "echo $reply, PHP_EOL;",
    ]
    return "\n".join(lines) + "\n"


def _write_node(call: Call, base_url: str) -> str:
    url = _PYTHON.put(_get_url(call, base_url))
    options = [] if call.method == "GET" else [f'method: "{call.method}",']
    headers = tuple(pair for pair in call.headers if pair[0] != _CONTENT_TYPE)
    if headers:
        options += ["headers: {", *_indent(_put_pairs(headers, _PYTHON, ": "), 2), "},"]
    if call.has_body and call.pairs:
        options.append("body: parameters,")
    if call.has_query:
        url += " + parameters"
    lines = [
        *(
            ["const parameters = new URLSearchParams({", *_indent(_put_pairs(call.pairs, _PYTHON, ": "), 2), "});"]
            if call.pairs
            else []
        ),
        *([f"const reply = await fetch({url}, {{", *_indent(options, 2), "});"] if options else []),
        *([] if options else [f"const reply = await fetch({url});"]),
        "console.log(await reply.text());",
    ]
    return "\n".join(lines) + "\n"


_JAVA_FORM = """\
String form = parameters.entrySet().stream()
    .map(each -> encode(each.getKey()) + "=" + encode(each.getValue()))
    .collect(Collectors.joining("&"));
"""
_JAVA_ENCODE = """
static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
}
"""
_JAVA_SEND = """\
HttpResponse<String> reply = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
System.out.println(reply.body());
"""
_JAVA_IMPORTS = ("java.net.URI", "java.net.http.HttpClient", "java.net.http.HttpRequest", "java.net.http.HttpResponse")
_JAVA_FORM_IMPORTS = (
    *("java.net.URLEncoder", "java.nio.charset.StandardCharsets", "java.util.LinkedHashMap", "java.util.Map"),
    "java.util.stream.Collectors",
)


def _write_java(call: Call, base_url: str) -> str:
    body = "noBody()"
    url = _JAVA.put(_get_url(call, base_url))
    puts = [f"parameters.put({_JAVA.put(name)}, {_JAVA.put(value)});" for name, value in call.pairs]
    if puts and call.has_body:
        body = "ofString(form)"
    elif puts:
        url += " + form"
    chain = [
        *(f".header({_JAVA.put(name)}, {_JAVA.put(value)})" for name, value in call.headers),
        f".POST(HttpRequest.BodyPublishers.{body})" if call.has_body else f".{call.method}()",
        ".build();",
    ]
    imports = sorted((*_JAVA_IMPORTS, *(_JAVA_FORM_IMPORTS if puts else ())))
    main = [
        *(["Map<String, String> parameters = new LinkedHashMap<>();", *puts, *_JAVA_FORM.splitlines()] if puts else []),
        f"HttpRequest request = HttpRequest.newBuilder(URI.create({url}))",
        *_indent(chain, 4),
        *_JAVA_SEND.splitlines(),
    ]
    members = [
        *["public static void main(String[] arguments) throws Exception {", *_indent(main, 4), "}"],
        *(_JAVA_ENCODE.splitlines() if puts else []),
    ]
    shown = ("" if not line else f"    {line}" for line in members)
    lines = [*(f"import {name};" for name in imports), "", "public class Example {", *shown, "}"]
    return "\n".join(lines) + "\n"


LANGUAGES = (
    Language(id="curl", title="curl", suffix=".sh", write=_write_curl),
    Language(id="python", title="Python", suffix=".py", write=_write_python),
    Language(id="php", title="PHP", suffix=".php", write=_write_php),
    Language(id="node", title="Node", suffix=".mjs", write=_write_node),
    Language(id="java", title="Java", suffix=".java", write=_write_java),
)


def render_snippet(language: Language, call: Call, base_url: str) -> tuple[Piece, ...]:
    """Writes a call in a language, as text and the placeholders that a reader replaces."""
    pieces = _MARKED.split(language.write(call.fill({BASE: base_url}), base_url))
    return tuple(
        Piece(get_placeholder(piece), piece) if place % 2 else Piece(piece)
        for place, piece in enumerate(pieces)
        if piece
    )


def get_placeholder(hole: str) -> str:
    """Returns what stands in a program for a value that only the reader knows."""
    return _PLACEHOLDERS.get(hole, f"YOUR_{hole.upper()}")


def join_pieces(pieces: Iterable[Piece], values: Mapping[str, str]) -> str:
    """Returns a program with the reader's own values in it."""
    return "".join(values.get(piece.hole, piece.text) for piece in pieces)
