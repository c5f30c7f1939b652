"""Entry points of installed packages: benchmarks, memories and metrics, memflow's own among them.

An entry point is imported at its first use, so that a list of names costs no import of the code.
"""

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from memflow.errors import BadSettings

PACKAGE = Path(__file__).parent

BENCHMARKS, MEMORIES, METRICS = "memflow.benchmarks", "memflow.memories", "memflow.metrics"
"""The groups. An entry point of BENCHMARKS names a `BenchmarkSpec`; of MEMORIES, a class or a `System`; of METRICS, a
`Metric` or an iterable of them."""
OURS = "memflow-bench"
"""The distribution whose names have priority over the same names in other packages."""


@cache
def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group without duplicates, memflow's own first, and then by name.

    Raises BadSettings if memflow's own are not registered, or if the package is mixed with another of the same name.
    """
    require_own_package(PACKAGE)
    points = {(point.name, point.value, distribution(point)): point for point in entry_points(group=group)}
    if not any(package == OURS for _, _, package in points):
        raise BadSettings(
            f"memflow's own entry points of {group} are not registered: the installed metadata of {OURS} is missing, "
            f"older than the code, or that of another Python than {sys.executable}. Reinstall it with this Python: "
            f"`pip install --force-reinstall {OURS}`, or `pip install -e .` in the repository."
        )
    return tuple(points[key] for key in sorted(points, key=lambda key: (key[2] != OURS, key[0])))


def require_own_package(package: Path) -> None:
    """Raise BadSettings if another project's package `memflow` replaced or removed files of this one."""
    others = [
        path.name.removesuffix(".dist-info") for path in package.parent.glob("memflow-[0-9]*.dist-info")
    ]
    if others or not (package / "__init__.py").is_file():
        what = f"has files of {', '.join(others)}, another project" if others else "lacks files of memflow"
        raise BadSettings(
            f"{package} {what}. Remove both packages and install this one again: pip uninstall -y memflow {OURS}; "
            f"pip install {OURS}"
        )


def distribution(point: EntryPoint) -> str:
    """Return the name of the package that declares an entry point; empty if it is unknown."""
    return point.dist.name if point.dist else ""


def is_ours(point: EntryPoint) -> bool:
    """Return whether memflow itself declares an entry point."""
    return distribution(point) == OURS


def package_of(point: EntryPoint) -> str:
    """Return the name and the version of the package that declares an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "of unknown name"
