"""Every setting of a store has a decision whether a snapshot has it. Settings of a process are not meant."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tidy.source_tree import SOURCE, expect_none, name, parse, source_files, walk
from tollgate.store.copying import SETTINGS

PLAIN = {
    "get_setting",
    "put_setting",
    "add_setting",
    "add_to_setting",
    "replace_setting",
    "delete_setting",
    "list_settings",
    "add_to_setting_writes",
    "add_to_settings_writes",
    "replace_setting_writes",
}
SEALED = {"find_sealed_setting", "put_sealed_setting", "forget_sealed_setting", "list_sealed_settings"}
PASSED_ON = {
    "src/tollgate/operations/settings.py": "it seals settings whose names its callers choose",
    "src/tollgate/store/geography.py": "the names are made for each imported file, and are in OF_THE_STORE",
    "src/tollgate/store/opening.py": "it defines the functions",
    "src/tollgate/flows/host_facts.py": "its settings are those of a process",
}
OF_THE_STORE = {
    "write_check": "src/tollgate/store/database.py",
    "needed_revision": "src/tollgate/store/migrating.py",
    "geoip.current": "src/tollgate/store/geography.py",
    "bins.current": "src/tollgate/store/geography.py",
}
"""Settings that are written without those functions, and where."""


def find_name(node: ast.expr, module: ModuleType, inside: ast.AST) -> str | None:
    """Returns the name of a setting as far as it is constant; None where nothing of it is."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.FormattedValue(value=first), *_]) | ast.BinOp(left=first):
            return find_name(first, module, inside)
        case ast.JoinedStr(values=[first, *_]):
            return find_name(first, module, inside)
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
            found = getattr(getattr(module, owner, None), attribute, None)
            return found if isinstance(found, str) else None
        case ast.Name(id=variable):
            found = getattr(module, variable, None)
            if isinstance(found, str):
                return found
            assigned = [
                each.value
                for each in ast.walk(inside)
                if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == variable
            ]
            return find_name(assigned[0], module, inside) if assigned else None
        case ast.Call(func=ast.Name(id=function)):
            tree = parse(Path(module.__file__ or ""))
            made = next(each for each in walk(tree) if isinstance(each, ast.FunctionDef) and each.name == function)
            return next(
                find_name(each.value, module, made)
                for each in ast.walk(made)
                if isinstance(each, ast.Return) and each.value is not None
            )
    return None


def list_uses() -> Iterator[tuple[str, str | None]]:
    """Yields where a setting is used, and its name."""
    for path in source_files():
        if name(path) in PASSED_ON:
            continue
        tree = parse(path)
        for function in [each for each in walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]:
            for call in [each for each in ast.walk(function) if isinstance(each, ast.Call)]:
                called = ast.unparse(call.func).rpartition(".")[2]
                if called not in PLAIN | SEALED:
                    continue
                # The writes have no database before the name, and sealed settings a keyring after it.
                place = 0 if called.endswith("_writes") else 1
                place = 2 if called in SEALED - {"forget_sealed_setting"} else place
                module = importlib.import_module(
                    ".".join(["tollgate", *path.relative_to(SOURCE).with_suffix("").parts])
                )
                found = find_name(call.args[place], module, function)
                yield f"{name(path)}:{call.lineno}", f"sealed/{found}" if found and called in SEALED else found


def test_every_setting_has_a_decision_and_every_decision_a_setting() -> None:
    uses = [*list_uses(), *[(where, used) for used, where in OF_THE_STORE.items()]]
    rows = {row.name: row for row in SETTINGS}
    decided = {used: [row.name for row in SETTINGS if row.covers(used)] for _, used in uses if used is not None}
    expect_none([where for where, used in uses if used is None], "The name of a setting begins with a constant:")
    expect_none(
        [f"{where}: {used}" for where, used in uses if used is not None and len(decided[used]) != 1],
        "A setting has one row in SETTINGS of store/copying.py:",
    )
    assert set(rows) == {row for names in decided.values() for row in names}, "a row is about a setting that is used"
    assert len(rows) == len(SETTINGS)
