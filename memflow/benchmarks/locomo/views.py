"""LoCoMo's command `memflow import results`."""

from memflow.benchmarks.views import Import

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
