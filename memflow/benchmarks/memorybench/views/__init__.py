"""MemoryBench's commands: `memflow show partitions` and `times`, and `memflow export liked` and `copied`."""

from memflow.benchmarks.views import DOMAIN_OPTION, Export, Option, View

VIEWS = (
    View(
        "partitions",
        "Show MemoryBench's off-policy min-max and z scores by partition, a row for each memory (paper, tables 10 and "
        "11).\n\n"
        "Scores are means over all cases of a partition: pooled, which are relative to the assistants of the domain, "
        "and relative to the published scores where a metric is measured as these are. The reason for a missing score "
        "is given below the table.",
        f"{__name__}.partitions:show_partitions",
        (
            Option("macro", "Weight data sets equally instead of cases.", kind=bool, default=False),
            Option("paper", "The published scores beside them.", kind=bool, default=False),
        ),
    ),
    View(
        "times",
        "Show the seconds that MemoryBench's memories take by task format: to write a training dialogue, and to "
        "answer a test case (paper, A.3.8).\n\n"
        "A model call counts with the latency of its first answer, also when the ledger replays it; a memory's own "
        "computing counts as measured. Waiting does not count.",
        f"{__name__}.times:show_times",
        (DOMAIN_OPTION,),
    ),
)
_SFT = (
    "as training examples in TRL's conversation format (paper, A.3.9).\n\nThe request is that of the memory `none`. "
    "docs/how-to/model.md trains an adapter on the file and evaluates it."
)
EXPORTS = (
    Export(
        "liked",
        f"Write the first answers that the users of a domain liked, {_SFT}",
        "memflow.benchmarks.memorybench.training:export_liked",
    ),
    Export(
        "copied",
        f"Write the first answers that the users of a domain copied, {_SFT}",
        "memflow.benchmarks.memorybench.training:export_copied",
    ),
)
