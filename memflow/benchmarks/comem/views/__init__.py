"""CoMem's command `memflow show checkpoints`, for any benchmark."""

from memflow.benchmarks.views import DOMAIN_OPTION, View

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
        (DOMAIN_OPTION,),
    ),
)
