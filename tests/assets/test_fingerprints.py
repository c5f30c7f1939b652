"""Fingerprints: what stands behind a partition's rows, who judges, and whose playing depends on the probes."""

from pathlib import Path

import pytest

from assets.fingerprints import MEMORY, Fingerprints
from resources.lake import Lake
from resources.library import Library
from resources.settings import Model, Settings, load

RUN = "amemgym_v1_base_run"
FILE = """
[models.strict]
url = "http://127.0.0.1:9/v1"
model = "strict"
[roles]
judge = "{judge}"
"""


@pytest.fixture
def recipes(tmp_path: Path) -> Fingerprints:
    """Of settings in which no model is scripted."""
    model = Model(model="m", url="http://127.0.0.1:9/v1")
    roles = dict.fromkeys(("simulator", "judge", "backbone", "assistant"), "large")
    settings = Settings(home=tmp_path, models={"large": model}, roles=roles)
    return Fingerprints(settings, Lake(settings.lake_root), Library(None, settings.datasets))


@pytest.mark.parametrize(("meta", "scripted"), [({}, "no"), ({"scripted": "yes"}, "yes")])
def test_who_rests_on_a_scripted_dialogue_says_so_whoever_answers(recipes, meta, scripted) -> None:
    recipes.lake.write("raw.records", RUN, [], fingerprint="test", meta=meta)
    on, off = (recipes.settings.domain(name) for name in ("amemgym_base", "amemgym_base_offpolicy"))
    assert recipes.behind(off, "full")["scripted"] == scripted
    assert recipes.behind(on, "full")["scripted"] == "no"


def test_off_policy_no_simulator_stands_behind_the_dialogues(recipes) -> None:
    on, off = (recipes.settings.domain(name) for name in ("amemgym_base", "amemgym_base_offpolicy"))
    assert recipes.simulator("memory", on) is not None and recipes.simulator("memory", off) is None
    played_by = recipes.played_by(off, "full")
    assert played_by["simulator"] == "the data set" and played_by["model"] == "large"
    assert played_by["fingerprint"] == recipes.settings.models["large"].fingerprint()
    assert recipes.played_by(on, "full")["simulator"] == recipes.simulator("memory", on)


def judged_by(folder: Path, judge: str = "scripted") -> Fingerprints:
    file = folder / f"{judge}.toml"
    file.write_text(FILE.format(judge=judge), encoding="utf-8")
    settings = load(file, {"home": folder / "home"})
    return Fingerprints(settings, Lake(settings.lake_root), Library(None))


def test_the_judge_is_seen_where_it_is_asked_and_makes_claims_anew(tmp_path: Path) -> None:
    scripted, strict = judged_by(tmp_path), judged_by(tmp_path, "strict")
    assert scripted.judge("memorybench_demo", "score.claims") is None
    assert scripted.judge("amemgym_demo", "score.verdicts") is None
    assert scripted.judge("memorybench_demo") not in (None, strict.judge("memorybench_demo"))
    assert scripted.judge("amemgym_demo") not in (None, strict.judge("amemgym_demo"))
    assert scripted.judging("amemgym_demo")["scripted"] == "yes"
    assert strict.judging("amemgym_demo")["scripted"] == "no"

    def changed(table: str) -> bool:
        return scripted.assistant(table, "amemgym_demo", "full") != strict.assistant(
            table, "amemgym_demo", "full"
        )

    assert changed("score.claims")
    assert not changed("score.verdicts") and not changed("memory.indexes")


def test_only_a_memory_that_evolves_is_played_anew_for_other_probes(tmp_path: Path) -> None:
    made = judged_by(tmp_path)
    assistants = ("awi", "awi_complete", "full")
    before = {
        (table, name): made.assistant(table, "amemgym_demo", name) for table in MEMORY for name in assistants
    }
    made.lake.write("question.probes", "amemgym_demo", [], fingerprint="others")
    after = {key: made.assistant(key[0], "amemgym_demo", key[1]) for key in before}
    assert {name for (_, name), digest in before.items() if after[_, name] != digest} == {"awi_complete"}
    assert not made.plays_probes(made.settings.domain("memorybench_demo"), "awi_complete")


def test_where_training_cases_are_asked_while_playing_every_assistant_is_played_anew_for_others(
    tmp_path: Path,
) -> None:
    made = judged_by(tmp_path)
    domains = ("memorybench_demo_onpolicy", "memorybench_demo_same", "memorybench_demo_stepwise")
    assert [made.plays_probes(made.settings.domain(name), "full") for name in domains] == [True, True, False]
    before = {(table, name): made.assistant(table, name, "full") for table in MEMORY for name in domains}
    for name in domains:
        made.lake.write("question.probes", name, [], fingerprint="others")
    changed = {key for key, digest in before.items() if made.assistant(*key, "full") != digest}
    assert changed == {(table, name) for table in MEMORY for name in domains[:2]}
    assert made.simulator("memory", made.settings.domain(domains[0])) is not None
    assert made.simulator("feedback", made.settings.domain(domains[0])) is None


def test_an_instrument_makes_verdicts_anew_where_it_is_used(tmp_path: Path) -> None:
    bare = judged_by(tmp_path)
    dictionary = tmp_path / "cmudict.dict"
    dictionary.write_text("syllable S IH1 L AH0 B AH0 L\n", encoding="utf-8")
    settings = bare.settings.model_copy(update={"cmudict": dictionary})

    def equipped() -> Fingerprints:
        return Fingerprints(settings, bare.lake, bare.library)

    def changed(table: str, domain: str) -> bool:
        return bare.assistant(table, domain, "full") != equipped().assistant(table, domain, "full")

    assert changed("score.verdicts", "memorybench_academic")
    assert not changed("answer.replies", "memorybench_academic")
    assert not changed("score.verdicts", "memorybench_legal") and not changed(
        "score.verdicts", "amemgym_demo"
    )
    before = equipped().instruments(settings.domain("memorybench_academic"))
    dictionary.write_text("syllable S IH1 L AH0 B AH0 L\ncat K AE1 T\n", encoding="utf-8")
    assert equipped().instruments(settings.domain("memorybench_academic")) != before


def test_the_leaderboard_follows_the_questions_that_it_is_made_by(recipes, monkeypatch) -> None:
    before = recipes.leaderboard()
    assert recipes.leaderboard() == before
    monkeypatch.setattr("assets.fingerprints.questions", lambda: "others")
    assert recipes.leaderboard() != before
