"""Compare the repository with the bounds of bounds.toml. The exit code is 1 if a bound is exceeded.

`make check` runs it. Each bound is printed with its value, so that the table shows where the lines are.
"""

import re
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGES = ("memflow", "assets", "resources")
BENCHMARKS = ROOT / "memflow" / "benchmarks"


def modules(*folders: str) -> list[Path]:
    """Return the Python files below folders of the repository."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def count_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_text(encoding="utf-8").count("\n")


def longest_module() -> tuple[str, int]:
    """Return the path of the longest module of the packages, and its lines."""
    longest = max(modules(*PACKAGES), key=count_lines)
    return str(longest.relative_to(ROOT)), count_lines(longest)


def modules_with_benchmark_names() -> list[str]:
    """Return the modules outside memflow/benchmarks that name a benchmark in code, a docstring or a comment."""
    folders = {path.name for path in BENCHMARKS.iterdir() if (path / "__init__.py").is_file()}
    names = folders - {"dialogues"}  # a word of the field, too
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    return [
        str(path.relative_to(ROOT))
        for path in modules(*PACKAGES)
        if BENCHMARKS not in path.parents and pattern.search(path.read_text(encoding="utf-8"))
    ]


def count_asset_checks() -> int:
    """Return the number of asset checks in the code location."""
    from memflow.assets.definitions import defs  # noqa: PLC0415  (only this bound needs Dagster)

    return len(defs().resolve_asset_graph().asset_check_keys)


def import_circle() -> list[str]:
    """Return modules that import one another, also in functions and for type checkers only; empty if none do."""
    imports = grimp.build_graph("memflow", exclude_type_checking_imports=False)
    try:
        TopologicalSorter(
            {module: imports.find_modules_directly_imported_by(module) for module in imports.modules}
        ).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def main() -> int:
    """Print every bound with its value. Return 1 if a value exceeds its bound, else 0."""
    bounds = tomllib.loads((Path(__file__).parent / "bounds.toml").read_text(encoding="utf-8"))
    rows = [
        (f"lines of {folders}", sum(map(count_lines, modules(*folders.split()))), bound)
        for folders, bound in bounds["lines"].items()
    ]
    path, lines = longest_module()
    rows.append((f"lines of the longest module, {path}", lines, bounds["module"]["lines"]))
    named = len(modules_with_benchmark_names())
    rows.append(("modules that name a benchmark elsewhere", named, bounds["benchmark_names"]["modules"]))
    circle = import_circle()
    text = " <- ".join(circle)
    rows.append((f"import circles {text}".strip(), int(bool(circle)), bounds["import_circles"]["count"]))
    rows.append(("asset checks", count_asset_checks(), bounds["asset_checks"]["count"]))
    for name, value, bound in rows:
        print(f"{value:>8,} of {bound:>8,}  {name}{'  EXCEEDED' if value > bound else ''}")
    exceeded = [name for name, value, bound in rows if value > bound]
    if exceeded:
        print(
            f"{len(exceeded)} bounds are exceeded. Remove what nobody would miss, or say in .ci/bounds.toml why not."
        )
    return bool(exceeded)


if __name__ == "__main__":
    sys.exit(main())
