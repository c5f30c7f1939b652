"""MemBench's commands `memflow show mechanisms`, `memflow show kinds` and `memflow show capacity`."""

from memflow.benchmarks.views import DOMAIN_OPTION, Option, View

PAPER_OPTION = Option(
    "paper", "The paper's figures beside them, with the known problems of each.", kind=bool, default=False
)

VIEWS = (
    View(
        "capacity",
        "Show MemBench's capacity: the number of tokens (knee) beyond which accuracy has fallen for good, with its "
        "95 % interval (bootstrap over trajectories), and the accuracy on either side.\n\n"
        "Tokens are counted since the evidence, which is what a memory has to keep to answer, and in all, which is "
        "the paper's figure 5.",
        f"{__name__}.capacity:show_capacity",
        (DOMAIN_OPTION,),
    ),
    View(
        "kinds",
        "Show MemBench's accuracy by kind of question, with the number of questions of each.\n\n"
        "Reflective questions ask for a preference or an emotion; `memflow show leaderboard --slices` reports "
        "preferences that follow from a recommendation separately (category highlevel_rec). csv and json have the "
        "intervals.",
        f"{__name__}.kinds:show_kinds",
        (DOMAIN_OPTION, PAPER_OPTION),
    ),
    View(
        "mechanisms",
        "Show MemBench's memories by level of memory: accuracy with its interval, recall of evidence, seconds to read "
        "and to write, and chat requests for either.\n\n"
        "recall@10 counts the ten best entries, recall all entries within the budget. Seconds and requests are means "
        "per operation: a read recalls for one question, a write stores what arrives at once. The reason for a missing "
        "figure is given below the table.",
        f"{__name__}.mechanisms:show_mechanisms",
        (DOMAIN_OPTION, PAPER_OPTION),
    ),
)
