"""LongMemEval's command `memflow import results`."""

from memflow.benchmarks.views import Import

IMPORTS = (
    Import(
        "results",
        "Store the published answers of a system, with their labels and what was retrieved.\n\n"
        "FOLDER is a file of a known form, such as the log of LongMemEval's evaluation script. The probes of DOMAIN "
        "must be in the lake.",
        "memflow.benchmarks.longmemeval.results_import:import_results",
    ),
)
