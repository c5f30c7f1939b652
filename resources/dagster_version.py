"""The versions of Dagster that memflow is tested with. This module does not import Dagster."""

import re
from importlib.metadata import version

from memflow.errors import MemflowError

OLDEST, BELOW = "1.13.0", "1.14"
"""The oldest version, and the first that is too new. pyproject.toml has the same range."""


def require_dagster() -> None:
    """Raise MemflowError if the installed Dagster is outside the range, before it is imported."""
    installed = version("dagster")
    if not _numbers(OLDEST) <= _numbers(installed) < _numbers(BELOW):
        raise MemflowError(
            f"Dagster {installed} is installed, and memflow needs at least {OLDEST} and less than {BELOW}. Install "
            f"memflow's dependencies again, or run: pip install 'dagster>={OLDEST},<{BELOW}' "
            f"'dagster-webserver>={OLDEST},<{BELOW}' 'dagster-postgres>=0.29,<0.30'"
        )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)][:3]
