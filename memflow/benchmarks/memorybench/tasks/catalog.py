"""The tasks of MemoryBench (paper, Tables 2, 8 and 9), and the tasks of our sample, from catalog.toml."""

from memflow.benchmarks.memorybench.tasks.task import Task
from memflow.benchmarks.packaged import load_toml
from memflow.errors import BadInput

LOCOMO_F1 = "locomo_f1"
ACCURACY = "accuracy"
ROUGE_L = "rouge_l"
METEOR = "meteor"
CHECKLIST = "checklist"
CRITERIA = "criteria"
QUALITY = "quality"
RATING = "rating"
INTEGRATED = "integrated"
"""A score from 1 to 10 that a judge merges from several measures (A.1.2)."""

TASKS: dict[str, Task] = {
    name: Task(name=name, **fields)
    for name, fields in load_toml("memflow.benchmarks.memorybench.tasks", "catalog.toml").items()
}

PRIMARY = frozenset(each.metric for each in TASKS.values())
"""The metrics that score cases."""


def task(name: str) -> Task:
    """Return the task with this name. Raises BadInput with the list of known tasks."""
    if name not in TASKS:
        raise BadInput(f"MemoryBench has no task {name!r}; use one of {', '.join(TASKS)}")
    return TASKS[name]


def tasks_of(dataset: str) -> list[Task]:
    """Return the tasks of a data set; only our sample has several tasks. Raises BadInput with the known data sets."""
    own = [each for each in TASKS.values() if each.name.startswith("sample_")]
    return [task(dataset), *(own if dataset == "memorybench_sample" else ())]
