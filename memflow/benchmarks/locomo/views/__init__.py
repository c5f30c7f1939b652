"""LoCoMo's commands `memflow show contracts` and `memflow import results`."""

from memflow.benchmarks.views import ASSISTANT_OPTION, DOMAIN_OPTION, Import, View

VIEWS = (
    View(
        "contracts",
        "Show J under each judge contract: over all questions, by category, and without known errors of the key.\n\n"
        "The span is the difference between the highest and the lowest J of the same answers. The ceiling is the J of "
        "an assistant whose answers are all right, given the known errors of the answer key.",
        f"{__name__}.contracts:show_contracts",
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
IMPORTS = (
    Import(
        "results",
        "Store the published answers of a system, with their labels and what was retrieved.\n\n"
        "FOLDER is a file, a folder with a file per conversation, or a quoted pattern. The form is recognized by its "
        "shape. Of several cutoffs or systems, the largest cutoff is read, or the one behind `#`, as in "
        "results.json#top_20.",
        "memflow.benchmarks.locomo.results_import:import_results",
    ),
)
