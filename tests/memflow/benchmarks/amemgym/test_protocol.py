"""AMemGym's protocol points are complete: every known difference between paper, published code and memflow has one."""

from dataclasses import replace

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.protocol import with_profile

DIFFERENCES = {
    "memory score": ["memory_score"],
    "utilization failure": ["failure_attribution"],
    "query of the diagnosis": ["state_probes"],
    "user simulator": ["user_model", "user_context", "user_date"],
    "turns per exposure": ["rounds_init", "rounds_update"],
    "answer reflection": ["refinements"],
    "evolution cycle": ["evolution_cycle"],
    "complete feedback": ["evolution_complete_feedback"],
    "evolution generator": ["evolution_generator"],
    "temperature 0": [
        "assistant_temperature",
        "memory_temperature",
        "user_temperature",
        "generation_temperature",
    ],
    "changes per state": ["changes_per_variable"],
    "order of choices": ["option_order"],
    "retrieval query at evaluation": ["retrieval_query"],
    "answer that is no JSON": ["unparsable_answer", "resumed_guesses"],
    "form of an answer": ["answer_form"],
    "update_cnts": ["update_counts"],
    "table 2 against table 6": ["awe_reference"],
    "extra data": ["extra_setting"],
    "length of replies": ["assistant_tokens"],
    "length of what AWI writes": ["memory_text_limits"],
    "embedder": ["embedder"],
    "context window": ["context_window"],
    "tokens of an answer to a choice": ["option_tokens"],
    "empty system message": ["empty_system_message"],
    "first messages, events and options of generated users": [
        *("message_length", "event_variables", "option_writer_input")
    ],
    "models": ["assistant_model", "user_model_name", "judge_model"],
    "prompts": ["prompts_questions", "prompts_replies", "prompts_users"],
    "sample": ["sample"],
}
"""Known differences, by topic, as listed from the paper, the published code and the comparison with memflow."""


def test_every_known_difference_has_a_protocol_point() -> None:
    names = {point.name for point in registry.protocol("amemgym").points}
    missing = {topic: {*points} - names for topic, points in DIFFERENCES.items() if {*points} - names}
    assert not missing


@pytest.mark.parametrize(
    ("profile", "user_model", "dates", "temperature"),
    [
        ("published", "published_code", False, 0.2),
        ("paper", "paper", False, None),
        ("memflow", "paper", True, None),
    ],
)
def test_profile_of_published_users_sets_user_model_dates_and_temperature(
    profile, user_model, dates, temperature
) -> None:
    protocol = registry.protocol("amemgym")
    domain = with_profile(registry.find_domain("amemgym_base"), protocol.points, profile)
    config = protocol.parameters.model_validate(dict(domain.parameters))
    assert (config.user_model, config.dates_in_notes) == (user_model, dates)
    decoding = domain.decoding.get("simulator")
    assert (decoding.temperature if decoding else None) == temperature


def test_published_profile_bounds_every_role_by_8192_tokens() -> None:
    points = registry.protocol("amemgym").points
    domain = with_profile(registry.find_domain("amemgym_base"), points, "published")
    assert {role: each.output for role, each in domain.decoding.items()} == dict.fromkeys(
        ("assistant", "memory", "simulator"), 8192
    )


def test_published_profile_sets_20_refinements_for_generated_users_only() -> None:
    points = registry.protocol("amemgym").points
    generated = with_profile(registry.find_domain("amemgym_base_generated"), points, "published")
    assert generated.parameters["refinements"] == 20
    assert (
        "refinements"
        not in with_profile(registry.find_domain("amemgym_base"), points, "published").parameters
    )


def test_published_profile_keeps_the_rounds_of_the_extra_setting() -> None:
    extra = registry.find_domain("amemgym_extra")
    published = with_profile(extra, registry.protocol("amemgym").points, "published")
    rounds = ("rounds_init", "rounds_update")
    assert [published.parameters[name] for name in rounds] == [extra.parameters[name] for name in rounds]


def test_off_policy_domain_has_no_points_of_the_user_model() -> None:
    off = replace(registry.find_domain("amemgym_base_offpolicy"))
    concerned = {point.name for point in registry.protocol("amemgym").points if point.concerns(off)}
    assert "off_policy_trace" in concerned and not concerned & {"user_model", "user_date", "user_temperature"}


def test_memory_awe_has_a_point_for_each_difference_of_its_requests_order_and_labels() -> None:
    points = registry.protocol("amemgym").points
    of = {
        name: {point.name for point in points if name in point.memories} for name in ("awe", "lib_awe", "rag")
    }
    shared = {"empty_system_message", "recall_order"}
    assert shared | {"awe_decoding", "stored_labels"} <= of["awe"]
    assert shared | {"awe_decoding"} <= of["lib_awe"] and "stored_labels" not in of["lib_awe"]
    assert shared | {"stored_labels"} <= of["rag"]
