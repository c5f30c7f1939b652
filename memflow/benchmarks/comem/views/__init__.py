"""CoMem's commands `memflow show checkpoints` (for any benchmark), `memflow show keys` and `memflow export keys`."""

from memflow.benchmarks.views import DOMAIN_OPTION, Export, Option, View

VIEWS = (
    View(
        "checkpoints",
        "Show how answers change over checkpoints: accuracy from before the first message on, forgetting and forward "
        "transfer at each, questions always right and always wrong, flip rate and backward transfer, with their 95 % "
        "intervals.\n\n"
        "n counts the questions with an answer at every checkpoint; all scores are of these. The column `before` is "
        "the accuracy before the first message; where a benchmark asks nothing then, that of the memory none at the "
        "first checkpoint. Below accuracy are its floors: the best constant answer and chance. csv and json have all "
        "intervals and reasons.",
        f"{__name__}.checkpoints:show_checkpoints",
        (
            DOMAIN_OPTION,
            Option(
                "paper",
                "CoMem's published figures below them, with the limits of the comparison.",
                kind=bool,
                default=False,
            ),
        ),
    ),
    View(
        "keys",
        "Show the gold labels per checkpoint: how many questions were kept, where annotator and verifier agree, why "
        "others were dropped, how labels change as the dialogue grows, and how many are as published; by category.",
        f"{__name__}.gold_labels:show_gold_labels",
        (Option("domain", "A domain of CoMem.", positional=True, metavar="DOMAIN"),),
    ),
)
EXPORTS = (
    Export(
        "keys",
        "Write the gold labels of a domain: the answer at each checkpoint, its annotators, and their grounds.\n\n"
        "Dropped and failed questions are left out. Dialogues and questions are given by ids and digests only, but "
        "grounds may quote them.",
        f"{__name__}.gold_labels:export_file",
    ),
)
