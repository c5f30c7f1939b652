"""Recipes: who is judged, and whose playing depends on the probes."""

from pathlib import Path

from assets.recipes import MEMORY, Recipes
from resources.lake import Lake
from resources.library import Library
from resources.settings import load

FILE = """
[models.strict]
url = "http://127.0.0.1:9/v1"
model = "strict"
[roles]
judge = "{judge}"
"""


def recipes(folder: Path, judge: str = "scripted") -> Recipes:
    file = folder / f"{judge}.toml"
    file.write_text(FILE.format(judge=judge), encoding="utf-8")
    settings = load(file, {"home": folder / "home"})
    return Recipes(settings, Lake(settings.lake_root), Library(None))


def test_the_judge_is_seen_where_it_is_asked_and_makes_claims_anew(tmp_path: Path) -> None:
    scripted, strict = recipes(tmp_path), recipes(tmp_path, "strict")
    assert scripted.judge("memorybench_demo") is None
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
    made = recipes(tmp_path)
    assistants = ("awi", "awi_complete", "full")
    before = {
        (table, name): made.assistant(table, "amemgym_demo", name) for table in MEMORY for name in assistants
    }
    made.lake.write("question.probes", "amemgym_demo", [], recipe="others")
    after = {key: made.assistant(key[0], "amemgym_demo", key[1]) for key in before}
    assert {name for (_, name), digest in before.items() if after[_, name] != digest} == {"awi_complete"}
    assert not made.evolves(made.settings.domain("memorybench_demo"), "awi_complete")
