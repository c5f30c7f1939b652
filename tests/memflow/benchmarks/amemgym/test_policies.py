"""Comparison of on-policy and off-policy results, and rejected comparisons."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from factories import row

from memflow.benchmarks.amemgym.policies import AssistantAnswers, PolicyComparison, Side, compare
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadInput
from memflow.metrics.intervals import NO_VARIATION
from memflow.records import Probe, Reply

Right = Callable[[int], bool]
"""Whether the answer to the question of that number, counted over all probes, is right."""

GOOD = {
    "oracle": lambda number: True,
    "full": lambda number: number % 4 != 0,
    "rag": lambda number: number % 2 == 0,
}


def off_policy(domain: Domain) -> Domain:
    return replace(domain, name=f"{domain.name}_offpolicy", parameters={**domain.parameters, "policy": "off"})


def answered(
    domain: Domain, probes: list[Probe], name: str, right: Right, model: str = "m" * 32
) -> AssistantAnswers:
    replies = []
    for number, probe in enumerate(probes):
        wrong = str(1 + int(probe.gold) % len(probe.options)) if probe.options else "{}"
        replies.append(
            row(
                Reply,
                assistant=name,
                probe_id=probe.probe_id,
                text="as said",
                model=model,
                parsed=probe.gold if right(number) else wrong,
                prompt=f"amemgym/{probe.kind}@0123",
            )
        )
    return AssistantAnswers(replies, make_verdicts(domain, probes, replies))


def side(domain: Domain, probes: list[Probe], rights: Mapping[str, Right], **other) -> Side:
    return Side(
        domain,
        probes,
        {name: answered(domain, probes, name, right, **other) for name, right in rights.items()},
    )


def by_name(rows: list[PolicyComparison], metric: str) -> dict[str, PolicyComparison]:
    return {row.assistant: row for row in rows if row.metric == metric}


@pytest.fixture(scope="module")
def choices(demo) -> list[Probe]:
    return demo.of_kind("choice")


@pytest.fixture
def on(demo, choices) -> Side:
    return side(demo.domain, choices, GOOD)


@pytest.fixture
def off(demo, choices) -> Side:
    """Off-policy, `rag` overtakes `full`."""
    rights = {**GOOD, "full": lambda number: number % 4 == 0, "alone": lambda number: True}
    return side(off_policy(demo.domain), choices, rights)


def test_accuracies_differences_and_ranks_of_both_policies_match_hand_computed_values(on, off, choices):
    rows = by_name(compare(on, off), "accuracy")
    assert list(rows) == ["full", "rag", "oracle"]
    full = rows["full"]
    assert len(choices) % 4 == 0 and full.n == len(choices) and full.n_users == 3
    assert (full.on.value, full.off.value, full.difference.value) == (0.75, 0.25, -0.5)
    assert full.difference.low is None or full.difference.low <= -0.5 <= full.difference.high
    assert full.on.low < 0.75 < full.on.high
    assert [(row.rank_on, row.rank_off, row.rise) for row in rows.values()] == [
        (1, 2, -1),
        (2, 1, 1),
        (None, None, None),
    ]
    assert rows["rag"].difference[:4] == (0, None, None, NO_VARIATION)


def test_policy_comparison_uses_only_probes_answered_in_both_domains(demo, choices, on):
    other = off_policy(demo.domain)
    whole = answered(other, choices, "full", GOOD["full"])
    lost = 3
    silent = [replace(reply, parsed=None, reason="no answer") for reply in whole.replies[:lost]]
    replies = [*silent, *whole.replies[lost:]]
    partly = AssistantAnswers(replies, make_verdicts(other, choices, replies))
    row = by_name(compare(on, Side(other, choices, {"full": partly})), "accuracy")["full"]
    assert row.n == len(choices) - lost and row.difference.value == 0


def test_policy_comparison_rejects_swapped_domains(on, off):
    with pytest.raises(BadInput, match="amemgym_demo_offpolicy is not on-policy"):
        compare(off, on)
    with pytest.raises(BadInput, match="amemgym_demo is not off-policy"):
        compare(on, on)


def test_policy_comparison_rejects_domains_with_different_users(demo, choices, on):
    user = choices[0].episode_id
    fewer = [probe for probe in choices if probe.episode_id != user]
    with pytest.raises(
        BadInput,
        match=rf"do not have the same users \(3 users and 2 users\): only one domain has user {user}",
    ):
        compare(on, side(off_policy(demo.domain), fewer, GOOD))


@pytest.mark.parametrize(
    "change",
    [
        {"gold": "1"},
        {"question": "Another?"},
        {"options": ["one", "two", "three", "four"]},
        {"checkpoint": 9},
        {"reason": "quarantined"},
    ],
)
def test_policy_comparison_rejects_domains_with_different_probes(demo, choices, on, change):
    at = next(place for place, probe in enumerate(choices) if probe.gold != "1")
    probes = [replace(probe, **change) if place == at else probe for place, probe in enumerate(choices)]
    wrong = rf"do not have the same probes: 1 probes differ, for example {choices[at].probe_id}"
    with pytest.raises(BadInput, match=wrong):
        compare(on, side(off_policy(demo.domain), probes, {"full": GOOD["full"]}))


def test_policy_comparison_rejects_results_of_different_chat_models(demo, choices, on):
    other = side(off_policy(demo.domain), choices, {"full": GOOD["full"]}, model="n" * 32)
    with pytest.raises(
        BadInput, match=r"full has different settings .* the chat model is mmmmmmmm on-policy and nn"
    ):
        compare(on, other)


def test_policy_comparison_rejects_domains_without_common_assistant(demo, choices, on):
    with pytest.raises(BadInput, match=r"no measured assistant in common .*: alone"):
        compare(on, side(off_policy(demo.domain), choices, {"alone": GOOD["full"]}))


def test_built_in_on_policy_and_off_policy_domains_differ_only_in_policy_and_recorded_run():
    base, given = find_domain("amemgym_base"), find_domain("amemgym_base_offpolicy")
    assert {**base.parameters, "policy": "off"} == given.parameters
    assert given.datasets[0] == base.datasets[0]
