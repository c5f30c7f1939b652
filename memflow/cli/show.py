"""`memflow show`: results, one module for each view. views.py adds the views that benchmarks declare."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from memflow.benchmarks import registry
from memflow.cli.lazy_commands import App, CommandReference, LazyGroup
from memflow.cli.views import view_command


class ShowGroup(LazyGroup):
    """The command group `memflow show`: its own commands, and the views that benchmarks declare."""

    references: ClassVar = {
        "leaderboard": CommandReference("memflow.cli.leaderboard:leaderboard", reads_past=True),
        "verdicts": CommandReference("memflow.cli.verdicts:verdicts", reads_past=True),
        "probe": CommandReference("memflow.cli.probe:probe", reads_past=True),
        "memory": CommandReference("memflow.cli.memory:memory", reads_past=True),
        "health": CommandReference("memflow.cli.show_health:health", reads_past=True),
        "headroom": CommandReference("memflow.cli.show_headroom:headroom", reads_past=True),
        "retrieval": CommandReference("memflow.cli.show_retrieval:retrieval", reads_past=True),
        "noise": CommandReference("memflow.cli.show_noise:noise", reads_past=True),
        "judges": CommandReference("memflow.cli.show_judges:judges", reads_past=True),
        "drift": CommandReference("memflow.cli.show_drift:drift", reads_past=True),
        "history": CommandReference("memflow.cli.history:history", reads_past=True),
        "made": CommandReference("memflow.cli.made:made", reads_past=True),
        "paper": CommandReference("memflow.cli.papers:paper", reads_past=True),
        "deviations": CommandReference("memflow.cli.deviations:deviations", reads_past=True),
        "usage": CommandReference("memflow.cli.usage:usage"),
    }

    def declared(self) -> Mapping[str, Callable[[], Any]]:
        return {name: partial(view_command, name, *view) for name, view in registry.views().items()}


show = App(
    cls=ShowGroup,
    no_args_is_help=True,
    help="Show results: the leaderboard, verdicts, a probe, a memory, and the views of each benchmark.",
)
