"""Content hashes of the code that a step uses: Python modules, the memflow modules that they import, and prompts.

Docstrings and comments do not count, except docstrings in modules named `answers`, which models receive as part of a
schema. In row types, columns that are null by default do not count, because the code of a step that fills such a column
changes anyway. A hash is the same on Python 3.11 to 3.13, in a clone and in an installed package.
assets/fingerprints.py lists the root modules of each step.
"""

import ast
import os
import sys
import threading
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import memflow
from memflow.chat.replacements import replacements
from memflow.fingerprint import digest
from memflow.resources.files.file_cache import FileCache, FileState

TEXTS = (".md", ".toml", ".yaml")
"""Files that count as text: prompts, personas, reference values, known answers."""
DECLARATIONS = {"protocol.yaml", "paper.yaml"}
"""Texts that no step reads: the tables of a paper, and protocol points, whose values are parameters and decoding."""
SKIPPED = {"__pycache__", "assets", "cli", "page", "prompts", "resources", "sql"}
ROW_TYPES = "records"
"""The package of the row types. The lake compares the columns of each file with theirs."""
MEMFLOW = Path(str(memflow.__file__)).parent
_PARSING = threading.Lock()
"""Python 3.11 counts the depth of syntax trees for all threads together: SystemError if two threads parse."""


class Source(NamedTuple):
    """The content hash of a module's code, and the memflow modules that the module imports."""

    digest: str
    imports: list[str]


class SourceCode:
    """Content hashes of modules and the memflow modules that they import. The file `cache_path` caches them on disk.

    `plugins` are packages and modules that shared code looks up by name: benchmarks and memories. An import of a plugin
    counts in other plugins, but not in shared code such as a registry.
    """

    def __init__(self, cache_path: Path | None = None, plugins: Collection[str] = ()) -> None:
        self.plugins = {*plugins, *_packages("memflow.benchmarks")}
        self._cache = None if cache_path is None else FileCache(cache_path)
        self._modules = dict(_modules("memflow", MEMFLOW))
        self._sources: dict[str, Source] = {}
        self._texts: dict[Path, list[str]] = {}
        self._digests: dict[frozenset[str], str] = {}

    def digest(self, roots: Iterable[str]) -> str:
        """Return one content hash of all modules that the roots (modules or packages) contain or import."""
        key = frozenset(roots)
        if key not in self._digests:
            found = self.closure(key)
            folders = {self._modules[name].parent for name in found}
            texts = sorted(text for folder in folders for text in self._texts_of(folder))
            packages = {*found, *(name.rpartition(".")[0] for name in found)}
            texts += sorted(file.text for file in replacements().values() if file.package in packages)
            self._digests[key] = digest([(name, self._source(name).digest) for name in found], texts)
        return self._digests[key]

    def closure(self, roots: Iterable[str]) -> list[str]:
        """Return the modules in the roots and all modules that they import, sorted."""
        waiting = [module for root in roots for module in self._members(root)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            shared = name.startswith("memflow.") and self._plugin(name) is None
            for imported in self._source(name).imports:
                if imported in self._modules and not (shared and self._plugin(imported)):
                    waiting.append(imported)
        return sorted(found)

    def _members(self, root: str) -> list[str]:
        """Return the modules of a package, or the module itself. Modules outside memflow are found by import path."""
        if root not in self._modules and root.partition(".")[0] != "memflow":
            file = getattr(sys.modules.get(root), "__file__", None)
            if file is not None:
                package = Path(file).name == "__init__.py"
                self._modules |= dict(_modules(root, Path(file).parent)) if package else {root: Path(file)}
        return [name for name in self._modules if name == root or name.startswith(f"{root}.")]

    def _plugin(self, module: str) -> str | None:
        parts = module.split(".")
        return next(
            (name for n in range(3, len(parts) + 1) if (name := ".".join(parts[:n])) in self.plugins), None
        )

    def _source(self, module: str) -> Source:
        if module not in self._sources:
            path = self._modules[module]
            state = FileState.of(path.stat())
            cached = None if self._cache is None else self._cache.get(str(path), state)
            source = Source(*cached) if cached else _parsed(path)
            if not cached and self._cache is not None and FileState.of(path.stat()) == state:
                self._cache.put(str(path), state, [*source])
            self._sources[module] = source
        return self._sources[module]

    def _texts_of(self, folder: Path) -> list[str]:
        """Return the prompts and other texts in the folder of a module."""
        if folder not in self._texts:
            self._texts[folder] = [
                path.read_text(encoding="utf-8")
                for place in (folder, folder / "prompts")
                for path in sorted(place.glob("*"))
                if path.suffix in TEXTS and path.name not in DECLARATIONS
            ]
        return self._texts[folder]


def _parsed(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    with _PARSING:
        tree = ast.parse(text)
    imports: set[str] = set()
    with_docstrings, of_rows = path.stem == "answers", path.parent.name == ROW_TYPES
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.JoinedStr):
            node.values = [value for value in node.values if not _is_empty(value)]
        body = getattr(node, "body", None)
        if not with_docstrings and isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                each for each in body if not (_is_docstring(each) or (of_rows and _is_null(each)))
            ]
    return Source(digest(_dump(tree)), sorted(name for name in imports if name.startswith("memflow.")))


def _dump(tree: ast.Module) -> str:
    """Return a syntax tree as the text that Python 3.11 writes: later versions have type parameters and omit `[]`."""
    if sys.version_info >= (3, 13):
        text = ast.dump(tree, show_empty=True)
    else:
        text = ast.dump(tree)
    return text.replace(", type_params=[]", "")


def _is_empty(part: ast.expr) -> bool:
    """Return whether a part of an f-string is an empty text, which Python 3.12 adds to some f-strings."""
    return isinstance(part, ast.Constant) and part.value == ""


def _is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as the docstring of a module, class, function or attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_null(node: ast.stmt) -> bool:
    """Return whether a statement declares a column that is null by default."""
    return (
        isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant) and node.value.value is None
    )


def _modules(package: str, folder: Path) -> Iterable[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name, ending = os.path.splitext(entry.name)  # noqa: PTH122  (no Path for each of hundreds of files)
            if entry.is_dir() and entry.name not in SKIPPED:
                yield from _modules(f"{package}.{entry.name}", Path(entry.path))
            elif ending == ".py":
                yield (package if name == "__init__" else f"{package}.{name}"), Path(entry.path)


@cache
def _packages(package: str) -> frozenset[str]:
    folder = MEMFLOW.joinpath(*package.split(".")[1:])
    return frozenset(
        f"{package}.{path.name}" for path in folder.iterdir() if (path / "__init__.py").is_file()
    )
