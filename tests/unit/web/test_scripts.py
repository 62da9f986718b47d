"""Modules become one script in an order, and some cannot be joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from tollgate.web.pages.scripts import ModuleError, join_modules, list_modules, read_browser_file, read_module


def save(folder: Path, **modules: str) -> Path:
    """Writes modules by their names, and returns the path of the last one."""
    path = folder
    for name, text in modules.items():
        path = folder / f"{name}.js"
        path.write_text(text)
    return path


def test_a_module_stands_behind_all_that_it_imports(tmp_path: Path) -> None:
    entry = save(
        tmp_path,
        low="export const low = 1;\n",
        middle='import { low } from "./low.js";\nexport const middle = low;\n',
        start='import { middle } from "./middle.js";\nimport { low } from "./low.js";\nuse(low, middle);\n',
    )

    assert [module.path.stem for module in list_modules([entry])] == ["low", "middle", "start"]
    assert join_modules(entry) == "const low = 1;\nconst middle = low;\nuse(low, middle);"


def test_a_script_is_one_strict_function_without_comments(tmp_path: Path) -> None:
    text = """\
// About it.

/**
 * Adds.
 * @param {number} one
 */
export async function add(one) {
  // Why.
  return /** @type {number} */ (one);
}
"""

    script = read_browser_file(save(tmp_path, start=text)).decode()

    assert script == '(() => {\n"use strict";\nasync function add(one) {\nreturn  (one);\n}\n})();\n'


def test_other_files_are_served_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "page.css").write_bytes(b"a {\n  color: red;\n}\n")

    assert read_browser_file(tmp_path / "page.css") == b"a {\n  color: red;\n}\n"


def test_names_are_read_from_declarations_of_the_module_itself(tmp_path: Path) -> None:
    text = "const { a, b } = f();\nlet [c] = g();\nexport class D {}\nfunction e() {\n  const inner = 1;\n}\n"

    module = read_module(save(tmp_path, start=text))

    assert (module.names, module.exports) == (("a", "b", "c", "D", "e"), frozenset({"D"}))


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    entry = save(
        tmp_path,
        one='import { two } from "./two.js";\nexport const one = 1;\n',
        two='import { one } from "./one.js";\nexport const two = 2;\n',
    )

    with pytest.raises(ModuleError, match=r"import each other: two.js -> one.js -> two.js"):
        join_modules(entry)


def test_a_name_that_two_modules_declare_is_refused(tmp_path: Path) -> None:
    entry = save(
        tmp_path,
        low="export const low = 1;\nfunction send() {}\n",
        start='import { low } from "./low.js";\nconst send = low;\n',
    )

    with pytest.raises(ModuleError, match=r"send is declared in low.js and in start.js"):
        join_modules(entry)


def test_an_import_of_what_is_not_exported_is_refused(tmp_path: Path) -> None:
    entry = save(tmp_path, low="const low = 1;\n", start='import { low } from "./low.js";\n')

    with pytest.raises(ModuleError, match=r"low.js does not export low"):
        join_modules(entry)


@pytest.mark.parametrize(
    "text",
    [
        'import low from "./low.js";\n',
        'import * as low from "./low.js";\n',
        'import { low as other } from "./low.js";\n',
        'import {\n  low,\n} from "./low.js";\n',
        'import { low } from "low";\n',
        'import "./low.js";\n',
        "export default 1;\n",
        "export { low };\n",
        "export var low = 1;\n",
        'export * from "./low.js";\n',
        'const low = await import("./low.js");\n',
        "var low = 1;\n",
        "let low, other;\n",
        "const { low: other } = f();\n",
    ],
)
def test_every_other_form_of_import_export_and_declaration_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModuleError, match="cannot be joined because of this line"):
        read_module(save(tmp_path, start=text))
