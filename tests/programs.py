"""Runs many small programs of one language in one process, because starting an interpreter takes longer than they do.

Each prints to a file of its own. What they print is judged by the tests.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

RUN_S = 600.0

_SHELL = 'for file in "$@"; do bash "$file" > "$file.out" 2> "$file.err"; done'
_PYTHON = """
import contextlib, io, runpy, sys
for path in sys.argv[1:]:
    with open(path + ".out", "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        runpy.run_path(path)
"""
_PHP = """<?php
foreach (array_slice($argv, 1) as $path) {
    ob_start();
    (function () use ($path) { include $path; })();
    file_put_contents("$path.out", ob_get_clean());
}
"""
_NODE = """
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
for (const path of process.argv.slice(2)) {
  const printed = [];
  console.log = (...words) => printed.push(words.join(" "));
  await import(pathToFileURL(path));
  writeFileSync(path + ".out", printed.join("\\n"));
}
"""
_JAVA = """
import java.io.PrintStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public class Runner {
    static class Source extends SimpleJavaFileObject {
        final String text;

        Source(String text) {
            super(URI.create("string:///Example.java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignored) {
            return text;
        }
    }

    public static void main(String[] paths) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        for (String path : paths) {
            Path folder = Files.createDirectory(Path.of(path + ".classes"));
            Source source = new Source(Files.readString(Path.of(path)));
            List<String> options = List.of("-d", folder.toString(), "-proc:none");
            if (!compiler.getTask(null, files, null, options, null, List.of(source)).call()) {
                throw new IllegalStateException(path + " does not compile");
            }
            try (PrintStream out = new PrintStream(path + ".out", StandardCharsets.UTF_8);
                    URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
                System.setOut(out);
                Class<?> example = loader.loadClass("Example");
                example.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            }
        }
        System.exit(0); // clients of HTTP keep threads for a while
    }
}
"""
_RUNNERS: Mapping[str, tuple[str, str, list[str]]] = {
    "curl": ("run.bash", _SHELL, ["bash"]),
    "python": ("run_all.py", _PYTHON, [sys.executable]),
    "php": ("run.php", _PHP, ["php"]),
    "node": ("run.mjs", _NODE, ["node"]),
    # Short runs are slower with a compiler that optimizes.
    "java": ("Runner.java", _JAVA, ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]),
}
LANGUAGES = tuple(_RUNNERS)


def run_programs(language: str, programs: Mapping[str, str], folder: Path, suffix: str) -> dict[str, str]:
    """Runs programs by their names, and returns what each of them printed.

    An interpreter that runs all of them ends with the first that fails.
    """
    name, text, command = _RUNNERS[language]
    (folder / name).write_text(text, "utf-8")
    paths = {each: folder / f"{each}{suffix}" for each in programs}
    for each, path in paths.items():
        path.write_text(programs[each], "utf-8", newline="")
    done = subprocess.run(
        [*command, str(folder / name), *map(str, paths.values())], capture_output=True, timeout=RUN_S, check=False
    )
    assert done.returncode == 0, (done.stdout.decode()[-2000:], done.stderr.decode()[-2000:])
    return {each: Path(f"{path}.out").read_bytes().decode() for each, path in paths.items()}
