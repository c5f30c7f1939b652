"""The list of private names of Dagster, resources/instance/private_names.yaml, equals those in the code."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
PACKAGES = ("memflow", "assets", "resources")
PRIVATE_MODULE = re.compile(r"dagster(_\w+)?(\.\w+)*\._\w+(\.\w+)*")


def used_names() -> set[str]:
    """Return the private names of Dagster in the Python and YAML files of the packages."""
    found: set[str] = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            found.update(names_in(ast.parse(path.read_text(encoding="utf-8"))))
        for path in (ROOT / package).rglob("*.yaml"):
            if path.name != "private_names.yaml":
                found.update(f[0] for f in PRIVATE_MODULE.finditer(path.read_text(encoding="utf-8")))
    return found


def names_in(module: ast.Module) -> Iterator[str]:
    """Yield what a module imports from private modules, its strings that name one, and what its classes use."""
    bases: dict[str, type] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and PRIVATE_MODULE.fullmatch(node.module or ""):
            for name in node.names:
                yield f"{node.module}.{name.name}"
                bases[name.name] = getattr(import_module(str(node.module)), name.name)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if PRIVATE_MODULE.fullmatch(name.name))
        elif isinstance(node, ast.Constant) and PRIVATE_MODULE.fullmatch(str(node.value)):
            yield str(node.value)
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            for base in (getattr(name, "id", "") for name in node.bases):
                if base in bases:
                    yield from (f"{base}.{name}" for name in private_names(node) & inherited(bases[base]))


def private_names(node: ast.ClassDef) -> set[str]:
    """Return the private names that a class defines or reads from itself."""
    defined = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    read = {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self"
    }
    return {name for name in defined | read if name.startswith("_") and not name.startswith("__")}


def inherited(base: type) -> set[str]:
    """Return the private names of a class of Dagster: its methods, and what its methods set."""
    return set(re.findall(r"\b(?:self\.|def )(_\w+)", inspect.getsource(base)))


def test_list_of_private_names_equals_those_in_the_code() -> None:
    listed = yaml.safe_load((ROOT / "resources/instance/private_names.yaml").read_text(encoding="utf-8"))
    assert set(listed) == used_names()
    assert all(set(entry) == {"why", "ends"} for entry in listed.values())
