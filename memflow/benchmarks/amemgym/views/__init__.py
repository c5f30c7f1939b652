"""AMemGym's commands: `memflow show policies` and `memflow import results`."""

from memflow.benchmarks.views import ASSISTANT_OPTION, Import, Option, View

VIEWS = (
    View(
        "policies",
        "Compare AMemGym on-policy with off-policy: scores, their difference, and the change of rank.\n\n"
        "The difference is off-policy minus on-policy; its 95 % interval is over users, each drawn with "
        "the answers under both. Ranks are among the assistants shown, without none and oracle.",
        f"{__name__}.policies:show_policies",
        (
            Option("on", "The domain that was played on-policy.", positional=True, metavar="ON"),
            Option("off", "The domain that was played off-policy.", positional=True, metavar="OFF"),
            ASSISTANT_OPTION,
        ),
    ),
)
IMPORTS = (
    Import(
        "results",
        "Import the results of AMemGym's published code: the answers of one agent, as those of an assistant.\n\n"
        "FOLDER has a folder for each user, with overall_results.json, diagnosis_results.json and agent_config.json. "
        "DOMAIN is the domain of these users; its probes must be in the lake.",
        "memflow.benchmarks.amemgym.results_import:import_results",
    ),
)
