"""Comparability: the settings of assistants on the leaderboard, and which of them differ."""

from dataclasses import replace

from factories import reply, score

from memflow.checks.expectations import all_expectations
from memflow.checks.rules import WholeTable
from memflow.scoring.comparability import MeasuredSettings, compare_settings


def settings(*prompts: str, tokens: int = 10, **meta: str) -> MeasuredSettings:
    replies = [reply(prompt=prompt, model="fingerprint-1", injected_tokens=tokens) for prompt in prompts]
    return MeasuredSettings.from_replies(replies, meta)


def differing(given: dict[str, MeasuredSettings]) -> list[str | None]:
    found = compare_settings([score(assistant=name) for name in given], given)
    return [each.differing_settings for each in found]


def test_compare_settings_adds_the_settings_of_the_assistant_to_every_score() -> None:
    replies = [reply(prompt="x/choice@1", model="f", injected_tokens=tokens) for tokens in (10, 30)]
    [found] = compare_settings(
        [score()], {"full": MeasuredSettings.from_replies([*replies, reply()], {"k": "5"})}
    )
    assert (found.fingerprint, found.prompts, found.k, found.budget) == ("f", ["x/choice@1"], 5, None)
    assert (found.injected_tokens, found.differing_settings) == (20.0, None)


def test_prompts_with_dropped_messages_make_the_results_of_their_assistant_incomplete() -> None:
    replies = [reply(dropped_messages=count) for count in (3, 0, 0, 1)]
    whole = MeasuredSettings.from_replies([reply()], {})
    [full, none] = compare_settings(
        [score(), score(assistant="none")],
        {"full": MeasuredSettings.from_replies(replies, {}), "none": whole},
    )
    assert (full.incomplete, none.incomplete) == ("2 of 4 prompts without the oldest messages", None)
    limited = MeasuredSettings.from_replies(replies, {"incomplete": "sample of 2 of 20 users"})
    assert limited.incomplete == "sample of 2 of 20 users; 2 of 4 prompts without the oldest messages"


def test_compare_settings_lists_differing_settings_of_every_score() -> None:
    given = {
        "a": settings("x/choice@1", k="5"),
        "b": settings("x/choice@2", k="30"),
        "c": settings("x/choice@1", budget="7"),
    }
    assert differing(given) == [
        "prompt x/choice 1, others 2; k 5, others 30",
        "prompt x/choice 2, others 1; k 30, others 5",
        "prompt x/choice 1, others 2",
    ]


def test_compare_settings_lists_different_embedders_only_of_memories_that_embed() -> None:
    given = {
        "full": settings("x/choice@1"),
        "rag": settings("x/choice_with_notes@2", embedder="bge-m3"),
        "embed_message": settings("x/choice_with_notes@2", embedder="hashing-256"),
    }
    found = compare_settings([score(assistant=name) for name in given], given)
    assert [each.embedder for each in found] == [None, "bge-m3", "hashing-256"]
    assert [each.differing_settings for each in found] == [
        None,
        "embedder bge-m3, others hashing-256",
        "embedder hashing-256, others bge-m3",
    ]


def test_compare_settings_lists_replaced_prompts_of_benchmark_but_not_of_memory() -> None:
    given = {
        "full": settings("x/choice@1"),
        "rag": settings("x/choice_with_notes@2", replaced_prompts="chat/again@5 x/opening@3"),
        "awi": settings("x/choice_with_notes@2", replaced_prompts="awi/update@4 chat/again@5 x/opening@3"),
    }
    found = compare_settings([score(assistant=name) for name in given], given)
    assert found[2].replaced_prompts == ["awi/update@4", "chat/again@5", "x/opening@3"]
    other = "replaced prompts chat/again@5, x/opening@3, others none"
    assert [each.differing_settings for each in found] == [
        "replaced prompts none, others chat/again@5, x/opening@3",
        other,
        other,
    ]


def test_compare_settings_lists_the_replaced_answer_prompt_as_a_difference() -> None:
    replaced = "x/choice@1 x/state@2"
    given = {
        "full": settings("x/choice@1", "x/state@2", replaced_prompts=replaced),
        "recent": settings("x/choice@1", "x/open@5", replaced_prompts=replaced),
        "rag": settings("x/choice_with_notes@3", "x/state_with_notes@4", replaced_prompts=replaced),
    }
    assert differing(given) == [
        "answer prompts replaced, others packaged, partly replaced",
        "answer prompts partly replaced, others packaged, replaced",
        "answer prompts packaged, others partly replaced, replaced",
    ]


def test_imported_results_differ_from_results_of_memflow_with_the_same_model() -> None:
    given = {
        "a": MeasuredSettings(),
        "b": MeasuredSettings(),
        "c": MeasuredSettings(imported="a run, hash 1"),
    }
    found = compare_settings([score(assistant=name) for name in given], given)
    assert [each.imported for each in found] == [None, None, "a run, hash 1"]
    assert [each.differing_settings for each in found] == [
        "results of memflow, others imported",
        "results of memflow, others imported",
        "results imported, others of memflow",
    ]
    apart = [score(assistant=name, model=name) for name in given]
    assert [each.differing_settings for each in compare_settings(apart, given)] == [None, None, None]


def test_leaderboard_check_finds_scores_of_other_model_versions() -> None:
    rules = {each.name: each.rule for each in all_expectations() if each.table == "score.leaderboard"}
    mixed = rules["comparable_scores_have_same_prompt_and_model_version"]
    assert isinstance(mixed, WholeTable)
    assert list(mixed.find_violations([score(assistant="a", k=5), score(assistant="b", k=30)])) == []
    stale = [score(fingerprint="1"), score(assistant="b", fingerprint="2")]
    assert list(mixed.find_violations(stale)) == [0, 1]
    two_models = [replace(each, model=each.assistant) for each in stale]
    assert list(mixed.find_violations(two_models)) == []
