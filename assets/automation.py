"""What follows from a change: the conditions on which an asset is made anew, and the sensor for them.

A model that changes regenerates what was made with it, and then what was made from that, as far as contents
really differ. Two things are never asked for: a partition that was never made, and anything because a model
was seen for the first time. When models are looked at (schedules) and what makes them differ (models) do not
belong here.
"""

import warnings

import dagster as dg

from assets.models import GROUP

# Observed assets by partition and checks by partition are new in Dagster. We use them knowingly (the lock fixes the
# version, tests/daemon holds what they do); a person who runs memflow need not hear of it at every start.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

Condition = dg.AutomationCondition
MODELS = dg.AssetSelection.groups(GROUP, include_sources=True)

BESIDE = dg.AssetSelection.assets("state/profiles", "state/variables", "state/changes", "question/keys")
"""Tables that lead nowhere but where one beside them leads: made in the same step as it, or, as keys, in the same run.
Looking at that one is enough: every way through the graph costs a tick."""
DEPTH = 5
"""How many steps to look back for work under way: from the report to the tables of a domain."""


def _upstream(state: Condition) -> Condition:
    """Where `state` holds of anything among the last DEPTH steps before an asset."""
    found = state
    for _ in range(DEPTH - 1):
        found = state | Condition.any_deps_match(found).ignore(BESIDE)
    return Condition.any_deps_match(found).ignore(BESIDE)


def _for_a_tick(state: Condition) -> Condition:
    """Where `state` holds and held a tick ago: what was asked for then is seen to be under way by now."""
    return state & ~state.newly_true()


_changed = Condition.data_version_changed()
# Two ticks, since a model that is first looked at while a tick reads may be there in this one and changed in the next.
_known: Condition = _for_a_tick(_for_a_tick(~Condition.missing()))
_model_changed: Condition = (
    Condition.any_deps_match(_known & _changed).allow(MODELS).with_label("a model changed")
)
_data_changed: Condition = Condition.any_deps_match(_changed).ignore(MODELS).with_label("its data changed")
_in_one_run: Condition = Condition.any_deps_match(Condition.will_be_requested()).with_label(
    "its data are asked for, in the same run"
)

# What was under way when a model changed may still have used the old one, so its landing settles nothing.
_overtaken: Condition = _model_changed & (Condition.in_progress() | Condition.newly_updated())
_made_too_soon: Condition = _overtaken.since(Condition.newly_requested() & ~_overtaken).with_label(
    "a model changed while it was being made"
)

# Models are looked at one after another, and a tick may fall between two of them.
_looked_at: Condition = (
    Condition.any_deps_match(Condition.newly_updated())
    .allow(MODELS)
    .with_label("its model was just looked at")
)
_behind: Condition = (
    ((_model_changed.since_last_handled() | _made_too_soon) & ~_looked_at)
    | (_data_changed | _in_one_run).since_last_handled()
).with_label("changed since it was made")

_under_way = Condition.in_progress() | Condition.newly_updated()
_quiet: Condition = (~_upstream(_under_way)).with_label("nothing before it is under way")
_settled: Condition = (~_upstream(_under_way | Condition.execution_failed())).with_label(
    "nothing before it is under way or has failed"
)

# What lands while a tick reads is no longer in progress, and only in the next tick updated.
_at_rest: Condition = _for_a_tick(~Condition.in_progress())

when_models_change: Condition = (_behind & ~Condition.missing() & _at_rest).with_label(
    "its model or its data changed"
)
"""For the tables of a domain: at once, and all that follow from one another in one run."""

when_inputs_settle: Condition = (when_models_change & _for_a_tick(_settled)).with_label(
    "its model or its data changed, and all before it has settled"
)
"""For domain x assistant. These cannot share a run with the tables of a domain, and one simulator may change
both; so they wait for what they are made from, and where that failed, until somebody has mended it."""

when_scores_settle: Condition = (when_models_change & _for_a_tick(_for_a_tick(_quiet))).with_label(
    "scores changed, and no more are coming"
)
"""For what gathers all partitions: once, when the last has landed. A failed one holds back none of the rest.
It waits a tick longer than scores do, for those that may be asked for meanwhile."""


def regeneration(seconds: int) -> dg.AutomationConditionSensorDefinition:
    """The sensor over all assets, every `seconds`: a run for each partition that is behind."""
    return dg.AutomationConditionSensorDefinition(
        name="regenerate_what_changed",
        target=dg.AssetSelection.all(include_sources=True),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=seconds,
        run_tags={"memflow/reason": "upstream-changed"},
        emit_backfills=False,
        description=(
            "Makes anew what was made with a model that has changed since, and then what was made from that. "
            "Stopped by default: with it on, one changed line of the settings may spend hours of a GPU, or "
            "money, while nobody looks. `memflow plan` says how much. What changes while it is stopped is "
            "caught up when it is switched on again. It never asks for a partition that was never made."
        ),
    )
