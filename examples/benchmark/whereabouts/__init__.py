"""An example benchmark outside memflow: questions about where things are after a move."""

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.spec import BenchmarkSpec

STORIES = Dataset(
    "whereabouts_data",
    "Stories of our own writing: things and their places",
    "whereabouts",
    ("stories.jsonl",),
    "Apache-2.0",
    "memflow",
    "It ships with the package memflow-whereabouts.",
    ships=True,
    package="whereabouts",
)
SPEC = BenchmarkSpec(
    name="whereabouts",
    title="Whereabouts",
    domains=(Domain("whereabouts_stories", "whereabouts", (STORIES.name,), "Where things are after a move"),),
    datasets=(STORIES,),
    implementation="whereabouts.benchmark:Whereabouts",
    checks=("whereabouts.checks:EXPECTED",),
    views="whereabouts.views:VIEWS",
    unit="stories",
)
