"""Memory servers in the whole evaluation: equal to the same memory in Python, and continued after a crash."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from faulty_server import EVERYTHING, Faults, FaultyServer
from generated import generate
from server_evaluation import evaluate, python_memory, server_memory

from memflow.memories.server.capabilities import NO_CONTENT, NO_EXPORT, NO_SOURCES
from memflow.memories.server.protocol import Capabilities
from memflow.scoring.attribution import NO_EVIDENCE

DOMAINS = ("amemgym_demo", "memorybench_demo_stepwise", "memorybench_demo_onpolicy")
MODES = ("as_of", "restore", "ask_at_once")
OVERLAP = python_memory("overlap_memory:OverlapMemory")
RECALLED = ("parsed", "reason", "recalled_sources", "injected_tokens", "dropped_tokens")
"""Columns of replies that show what was recalled."""

Tables = Mapping[str, list[Any]]


@cache
def expected(domain: str) -> Tables:
    """Return the tables of the memory in Python."""
    return evaluate(generate(domain), OVERLAP)


def differences(found: Tables, wanted: Tables) -> list[Any]:
    """Return the verdicts, replies and attributions that differ, without ids of entries."""
    pairs = [
        *zip(found["score.verdicts"], wanted["score.verdicts"], strict=True),
        *zip(found["score.attributions"], wanted["score.attributions"], strict=True),
        *(
            [[getattr(reply, name) for name in RECALLED] for reply in both]
            for both in zip(found["answer.replies"], wanted["answer.replies"], strict=True)
        ),
    ]
    return [pair for pair in pairs if pair[0] != pair[1]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_server_gives_the_verdicts_of_the_same_memory_in_python(domain: str, mode: str) -> None:
    found = evaluate(generate(domain), server_memory(mode=mode), FaultyServer())
    assert differences(found, expected(domain)) == []
    assert any(verdict.value for verdict in found["score.verdicts"])


@pytest.mark.parametrize("mode", MODES)
def test_probes_that_are_asked_after_the_episode_get_the_same_verdicts(mode: str) -> None:
    found = evaluate(generate("comem_demo"), server_memory(mode=mode), FaultyServer())
    assert differences(found, expected("comem_demo")) == []


@pytest.mark.parametrize("mode", MODES)
def test_probes_are_answered_again_on_another_start_of_the_server(mode: str) -> None:
    generated, memory = generate("comem_demo"), server_memory(mode=mode)
    played = evaluate(generated, memory, FaultyServer(), steps=["memories"])
    steps = ["replies", "verdicts", "attributions"]
    found = evaluate(generated, memory, FaultyServer(), steps=steps, before=played)
    assert differences(found, expected("comem_demo")) == []


@pytest.mark.parametrize("spaces", [1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_server_with_few_spaces_gives_the_same_verdicts(mode: str, spaces: int) -> None:
    server = FaultyServer(EVERYTHING.model_copy(update={"spaces": spaces}))
    found = evaluate(generate("memorybench_demo"), server_memory(mode=mode), server)
    assert differences(found, expected("memorybench_demo")) == []
    assert server.most_spaces <= spaces


def test_server_that_declares_nothing_gives_the_same_verdicts() -> None:
    server = FaultyServer(Capabilities())
    found = evaluate(generate("comem_demo"), server_memory(), server)
    assert found["score.verdicts"] == expected("comem_demo")["score.verdicts"]
    assert {operation for operation, _ in server.requests} == {"hello", "reset", "write", "read", "close"}


def test_server_that_answers_with_the_present_does_not_give_the_same_verdicts() -> None:
    server = FaultyServer(EVERYTHING.model_copy(update={"sources": "none"}), faults=Faults(stale_as_of=True))
    found = evaluate(generate("amemgym_demo"), server_memory(mode="as_of"), server)
    assert found["score.verdicts"] != expected("amemgym_demo")["score.verdicts"]


@pytest.mark.parametrize(
    ("changed", "reason"), [({"sources": "none"}, NO_SOURCES), ({"export": "none"}, NO_EXPORT)]
)
def test_attribution_states_what_the_server_does_not_report(changed: dict[str, str], reason: str) -> None:
    server = FaultyServer(EVERYTHING.model_copy(update=changed))
    found = evaluate(generate("comem_demo"), server_memory(mode="ask_at_once"), server)
    assert found["score.verdicts"] == expected("comem_demo")["score.verdicts"]
    rows, wanted = found["score.attributions"], expected("comem_demo")["score.attributions"]
    assert {row.reason for row in rows} == {reason, NO_EVIDENCE}
    assert {row.write for row in rows} == {row.read for row in rows} == {None}
    if reason == NO_EXPORT:
        assert [row.recalled for row in rows] == [row.recalled for row in wanted]
        assert [row.recalled_at_10 for row in rows] == [row.recalled_at_10 for row in wanted]
        assert {row.stored for row in rows} == {None}


def test_claims_about_content_that_is_not_exported_have_a_reason() -> None:
    server = FaultyServer(EVERYTHING.model_copy(update={"export": "none"}))
    found = evaluate(generate("amemgym_demo"), server_memory(mode="ask_at_once"), server)
    assert {claim.reason for claim in found["score.claims"]} == {NO_CONTENT}
    assert {claim.value for claim in found["score.claims"]} == {None}
    assert len(found["score.claims"]) == len(expected("amemgym_demo")["score.claims"]) > 0
