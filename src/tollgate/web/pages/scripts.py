"""Joins the ES modules of a script into the one file that browsers load. What a script does is said in its modules."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

# A module may import and export in these forms only, so that joining needs no parser of JavaScript:
#   import { first, second } from "./other.js";
#   export function, export async function, export class, export const, export let
# All modules of a script share one function scope, so each of its module-level names is declared once, and each in a
# declaration of its own or by taking an object or a list apart without renaming.
# All scripts are read when a host starts. A pattern that begins with a line break is tried at line breaks only.
_IMPORT = re.compile(r'\nimport \{ (\w+(?:, \w+)*) \} from "(\.\.?/[\w./]+\.js)";(?=\n)')
_EXPORT = re.compile(r"\nexport (?=(?:async function|function|class|const|let) (\w+))")
_NAMES = r"(\w+\b(?!,)|[{\[] ?\w+(?:, \w+)* ?[}\]])"
_DECLARED = re.compile(rf"\n(?:async function|function|class|const|let) {_NAMES}")
_OTHER_FORM = re.compile(rf"\n(?:\s*(?:import|export)\b.*|.*\bimport\(.*|var .*|(?:const|let) (?!{_NAMES}).*)")
_JSDOC = re.compile(r"/\*\*.*?\*/", re.DOTALL)


class ModuleError(Exception):
    """A module imports, exports or declares in a way that cannot be joined."""


class Module(msgspec.Struct, frozen=True):
    path: Path
    imports: tuple[tuple[Path, frozenset[str]], ...]
    exports: frozenset[str]
    names: tuple[str, ...]
    """Everything that the module declares at its top level."""
    code: str
    """The text without imports, comments and indentation, and without the word `export`."""


def read_module(path: Path) -> Module:
    text = "\n" + _JSDOC.sub("", path.read_text("utf-8"))
    imports = tuple(
        (Path(os.path.normpath(path.parent / found[2])), frozenset(found[1].split(", ")))
        for found in _IMPORT.finditer(text)
    )
    exports = frozenset(found[1] for found in _EXPORT.finditer(text))
    bare = _EXPORT.sub("\n", _IMPORT.sub("", text))
    if other := _OTHER_FORM.search(bare):
        raise ModuleError(f"{path.name} cannot be joined because of this line: {other[0].strip()}")
    names = tuple(name for found in _DECLARED.finditer(bare) for name in re.findall(r"\w+", found[1]))
    lines = (line.strip() for line in bare.splitlines())
    code = "\n".join(line for line in lines if line and not line.startswith("//"))
    return Module(path, imports, exports, names, code)


def list_modules(entries: Iterable[Path]) -> list[Module]:
    """Returns the entries and all they import, each behind what it imports."""
    modules: dict[Path, Module] = {}
    for entry in entries:
        _visit(entry.resolve(), (), modules)
    return list(modules.values())


def _visit(path: Path, importers: tuple[Path, ...], modules: dict[Path, Module]) -> None:
    if path in importers:
        raise ModuleError("modules import each other: " + " -> ".join(each.name for each in (*importers, path)))
    if path in modules:
        return
    module = read_module(path)
    for imported, names in module.imports:
        _visit(imported, (*importers, path), modules)
        if missing := names - modules[imported].exports:
            raise ModuleError(f"{path.name}: {imported.name} does not export {', '.join(sorted(missing))}")
    modules[path] = module


def join_modules(*entries: Path) -> str:
    """Returns the code of the entries and all they import, to be put into one scope."""
    modules = list_modules(entries)
    owners: dict[str, Path] = {}
    for module in modules:
        for name in module.names:
            if name in owners:
                raise ModuleError(f"{name} is declared in {owners[name].name} and in {module.path.name}")
            owners[name] = module.path
    return "\n".join(module.code for module in modules)


def wrap_modules(code: str) -> bytes:
    """Returns joined code as one script, whose names are hidden from other scripts."""
    return f'(() => {{\n"use strict";\n{code}\n}})();\n'.encode()


def read_browser_file(path: Path) -> bytes:
    """Returns a file as browsers load it: a script together with the modules that it imports."""
    return wrap_modules(join_modules(path)) if path.suffix == ".js" else path.read_bytes()
