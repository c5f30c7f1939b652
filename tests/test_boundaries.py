"""What the source files of each package may contain. `make check` verifies what they import (import-linter).

Each test examines all files and reports all violations.
"""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT_GUARD = ROOT / "memflow" / "memories" / "lib_mem0" / "library.py"
"""Restores os.environ around the import of a third-party package, which writes to the home folder and reports usage."""
PICKLE_READER = ROOT / "memflow" / "benchmarks" / "safe_pickle.py"
"""Reads a published pickle and accepts plain values only."""

IMPURE = re.compile(
    r"os\.environ.*|os\.getenv|time\.\w+|datetime\.(now|today|utcnow)|datetime\.datetime\.(now|utcnow)|date\.today"
    r"|random\.(random|choice|choices|shuffle|sample|randint|seed|gauss)|np\.random\.(seed|rand|randn|random|choice)"
)
SQL = re.compile(r"\b(SELECT\s+.+\s+FROM|INSERT\s+INTO|DELETE\s+FROM)\b")
EVALUATION = re.compile(r"(?<![\w.])(eval|exec)\(|__import__\(")
PICKLES = {"pickle", "cPickle", "dill", "cloudpickle"}


@cache
def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def core_sources() -> list[Path]:
    """Return the files of memflow/ without the command line, the Python API and what both do."""
    return [path for path in sources("memflow") if not {"cli", "api", "operations"} & {*path.parts}]


@cache
def syntax_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, at any level."""
    names: set[str] = set()
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return frozenset(names)


def offenders(found: dict[Path, list[str]]) -> list[str]:
    """Return one line per file with a violation."""
    return [f"{path.relative_to(ROOT)}: {', '.join(names)}" for path, names in found.items() if names]


def test_memflow_uses_no_clock_environment_or_global_random_state() -> None:
    found = {}
    for path in core_sources():
        if path != ENVIRONMENT_GUARD:
            nodes = ast.walk(syntax_tree(path))
            used = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
            found[path] = sorted(name for name in used if IMPURE.fullmatch(name))
    assert offenders(found) == []


def test_assets_and_resources_do_not_import_annotations_from_future() -> None:
    found = {
        path: sorted(imports(path) & {"__future__"}) for path in [*sources("assets"), *sources("resources")]
    }
    assert offenders(found) == []


def test_python_files_contain_no_sql_eval_or_pickle() -> None:
    found = {}
    for path in [*core_sources(), *sources("resources"), *sources("assets")]:
        text = path.read_text(encoding="utf-8")
        found[path] = [match[0] for pattern in (SQL, EVALUATION) for match in pattern.finditer(text)]
        if path != PICKLE_READER:
            found[path] += sorted(imports(path) & PICKLES)
    assert offenders(found) == []


def test_markdown_files_in_memflow_are_prompts() -> None:
    found = list((ROOT / "memflow").rglob("*.md"))
    assert found
    assert [str(path.relative_to(ROOT)) for path in found if path.parent.name != "prompts"] == []
