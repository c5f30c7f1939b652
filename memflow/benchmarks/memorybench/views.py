"""MemoryBench's commands: `memflow show gains` and `times`, and `memflow export liked` and `copied`."""

from memflow.benchmarks.views import DOMAIN_OPTION, Export, View

VIEWS = (
    View(
        "gains",
        "Show the scores of MemoryBench's assistants with and without feedback on the same question, by data set and "
        "metric (paper, tables 16 and 17).\n\n"
        "The domains are those that end in _same: a question is asked before and after its own dialogue is in memory.",
        "memflow.benchmarks.memorybench.gains:show_gains",
        (DOMAIN_OPTION,),
    ),
    View(
        "times",
        "Show the seconds that MemoryBench's memories take by task format: to write a training dialogue, and to "
        "answer a test case (paper, A.3.8).\n\n"
        "A model call counts with the latency of its first answer, also when the ledger replays it; a memory's own "
        "computing counts as measured. Waiting does not count.",
        "memflow.benchmarks.memorybench.times:show_times",
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
