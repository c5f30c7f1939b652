"""Automation conditions: when an asset is regenerated, and the sensor that requests the regeneration.

A changed model regenerates the assets generated with it, and then their downstream assets if contents differ. Two cases
never request a run: partitions that were never materialized, and the first observation of a model. jobs.py observes
models; models.py computes their fingerprints.
"""

import warnings
from collections.abc import Collection, Iterable, Mapping

import dagster as dg

from memflow.assets.models import GROUP

# Observed assets by partition and checks by partition are new in Dagster. We use them knowingly (the lock fixes the
# version, tests/daemon holds what they do); a person who runs memflow need not hear of it at every start.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

Condition = dg.AutomationCondition
MODELS = dg.AssetSelection.groups(GROUP, include_sources=True)


def upstream_levels(asset: str, deps: Mapping[str, Collection[str]]) -> list[set[str]]:
    """Return the assets upstream of an asset, grouped by the length of the longest path to them, nearest first.

    Every asset of a level is a dep of an asset in the level before it. So an automation condition that is nested once
    per level reaches every asset once. Nested over all deps, it would be evaluated once per path: thousands of times
    for the leaderboard.

    Args:
        asset: The asset, as in `score/verdicts`.
        deps: The deps of each asset that has any.
    """
    levels: list[set[str]] = []
    level = {asset}
    while level := {dep for name in level for dep in deps.get(name, ())}:
        levels = [nearer - level for nearer in levels] + [level]
    return levels


def _upstream(state: Condition, levels: Iterable[Collection[str]]) -> Condition:
    """Return the condition that the condition `state` is true for any asset of these levels (`upstream_levels`)."""
    condition = state
    for number, level in enumerate(reversed(list(levels))):
        selection = dg.AssetSelection.assets(*(name.split("/") for name in sorted(level)))
        condition = Condition.any_deps_match(state | condition if number else state).allow(selection)
    return condition


def _for_a_tick(state: Condition) -> Condition:
    """Return the condition that the condition `state` is true at this evaluation and was at the previous one."""
    return state & ~state.newly_true()


_changed = Condition.data_version_changed()
# Two evaluations: a model first observed during one may seem new in it and changed in the next. A model that was
# observed before the first evaluation, such as by `memflow run`, is known at once.
_known: Condition = ~Condition.missing().since(_for_a_tick(_for_a_tick(~Condition.missing())))
_model_changed: Condition = (
    Condition.any_deps_match(_known & _changed).allow(MODELS).with_label("a model changed")
)
_data_changed: Condition = Condition.any_deps_match(_changed).ignore(MODELS).with_label("its data changed")
_in_one_run: Condition = Condition.any_deps_match(Condition.will_be_requested()).with_label(
    "its inputs are requested in the same run"
)

# What was in progress when a model changed may have used the old model.
_overtaken: Condition = _model_changed & (Condition.in_progress() | Condition.newly_updated())
_made_too_soon: Condition = _overtaken.since(Condition.newly_requested() & ~_overtaken).with_label(
    "a model changed while it was in progress"
)

# Models are observed one after another, and an evaluation may fall between two of them.
_looked_at: Condition = (
    Condition.any_deps_match(Condition.newly_updated())
    .allow(MODELS)
    .with_label("its model was just observed")
)
_behind: Condition = (
    ((_model_changed.since_last_handled() | _made_too_soon) & ~_looked_at)
    | (_data_changed | _in_one_run).since_last_handled()
).with_label("changed since it was materialized")

_under_way = Condition.in_progress() | Condition.newly_updated()
# What completes during an evaluation is no longer in progress, and only in the next one updated.
_at_rest: Condition = _for_a_tick(~Condition.in_progress())

when_models_change: Condition = (_behind & ~Condition.missing() & _at_rest).with_label(
    "its model or its data changed"
)
"""For the tables of a domain: immediately, and all that depend on one another in one run."""


def when_inputs_settle(levels: Iterable[Collection[str]]) -> Condition:
    """Return the condition for domain x assistant, given all that is upstream.

    These cannot share a run with the tables of a domain, so they wait until their inputs are materialized; where an
    input failed, until it is fixed.
    """
    settled = (~_upstream(_under_way | Condition.execution_failed(), levels)).with_label(
        "nothing upstream is in progress or has failed"
    )
    return (when_models_change & _for_a_tick(settled)).with_label(
        "its model or its data changed, and all before it has settled"
    )


def when_scores_settle(levels: Iterable[Collection[str]]) -> Condition:
    """Return the condition for the leaderboard, given all that is upstream.

    It is met once, when the last partition has completed. A failed one does not block the rest. It waits one evaluation
    longer than scores do, for those that may be requested meanwhile.
    """
    quiet = (~_upstream(_under_way, levels)).with_label("nothing upstream is in progress")
    return (when_models_change & _for_a_tick(_for_a_tick(quiet))).with_label(
        "scores changed, and no more are coming"
    )


when_inputs_are_requested: Condition = _in_one_run
"""For a table of all scores that is computed from another one, always in the same run."""


def regeneration(seconds: int) -> dg.AutomationConditionSensorDefinition:
    """Return the sensor over all assets, which requests a run for each stale partition every `seconds`."""
    return dg.AutomationConditionSensorDefinition(
        name="regenerate_what_changed",
        target=dg.AssetSelection.all(include_sources=True),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=seconds,
        emit_backfills=False,
        description=(
            "Regenerates what was generated with a model that has changed since, and then what depends on it. "
            "Stopped by default: with it on, one changed line of the settings may spend hours of a GPU, or "
            "money, unattended. `memflow plan` forecasts how much. Changes while it is stopped are "
            "processed when it is started again. It never requests a partition that was never materialized."
        ),
    )
