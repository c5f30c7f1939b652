"""AMemGym's command `memflow import results`."""

from memflow.benchmarks.views import Import

IMPORTS = (
    Import(
        "results",
        "Import the results of AMemGym's published code: the answers of one agent, as those of an assistant.\n\n"
        "FOLDER has a folder for each user, with overall_results.json, diagnosis_results.json and agent_config.json. "
        "DOMAIN is the domain of these users; its probes must be in the lake.",
        "memflow.benchmarks.amemgym.results_import:import_results",
    ),
)
