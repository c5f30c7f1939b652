"""HaluMem's command `memflow import results`."""

from memflow.benchmarks.views import Import

IMPORTS = (
    Import(
        "results",
        "Store a recorded run with its verdicts.\n\nFOLDER has the files of HaluMem's evaluation script: the sessions "
        "with what was extracted, found and answered, and the verdicts. The probes of DOMAIN must be in the lake.",
        "memflow.benchmarks.halumem.results_import:import_results",
    ),
)
