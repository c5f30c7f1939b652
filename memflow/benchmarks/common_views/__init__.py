"""The views of `memflow show` that every benchmark has: `statistics` and `simulators`."""

from memflow.benchmarks.views import DOMAIN_OPTION, Option, View

VIEWS = (
    View(
        "statistics",
        "Show how large each generated domain is: trajectories, periods, sessions, messages, questions, and tokens per "
        "trajectory.\n\n"
        "A trajectory is an episode of given messages with questions. A session is what its benchmark counts as one. "
        "Tokens are estimated, of the messages that are given or that open an exchange. Quarantined rows do not count.",
        f"{__name__}.statistics:show_statistics",
        (
            DOMAIN_OPTION,
            Option("slices", "By slice, such as the kind of question.", kind=bool, default=False),
        ),
    ),
    View(
        "simulators",
        "Show the scores of each memory by the model that played the users and the model that answered, over all "
        "published results.\n\n"
        "Change `simulator` in [roles] of memflow.toml and rerun: the earlier results stay in the history.",
        f"{__name__}.simulators:show_simulators",
        (DOMAIN_OPTION,),
    ),
)
