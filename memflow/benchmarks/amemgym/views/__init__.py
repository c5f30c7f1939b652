"""AMemGym's commands `memflow show policies` (on-policy against off-policy results) and `memflow export users`."""

from memflow.benchmarks.views import ASSISTANT_OPTION, Export, Option, View

VIEWS = (
    View(
        "policies",
        "Compare AMemGym on-policy with off-policy: scores, their difference, and the change of rank.\n\n"
        "The difference is off-policy minus on-policy; its 95 % interval is a bootstrap over users, each drawn with "
        "the answers under both. Ranks are among the assistants shown, without none and oracle.",
        f"{__name__}.policies:show_policies",
        (
            Option("on", "The domain that was played on-policy.", positional=True, metavar="ON"),
            Option("off", "The domain that was played off-policy.", positional=True, metavar="OFF"),
            ASSISTANT_OPTION,
        ),
    ),
)
EXPORTS = (
    Export(
        "users",
        "Write the users of a domain, generated or read, in the format that AMemGym publishes.\n\n"
        "Read back as a data set of your own ([own_datasets.NAME] in memflow.toml), they give the same states, "
        "messages and questions. Quarantined items are left out and listed.",
        f"{__name__}.users:export_file",
    ),
)
