"""What stands behind the rows of a domain and an assistant."""

from pathlib import Path

import pytest

from assets.recipes import Recipes
from resources.lake import Lake
from resources.library import Library
from resources.settings import Model, Settings

RUN = "amemgym_v1_base_run"


@pytest.fixture
def recipes(tmp_path: Path) -> Recipes:
    """Of settings in which no model is scripted."""
    model = Model(model="m", url="http://127.0.0.1:9/v1")
    roles = dict.fromkeys(("simulator", "judge", "backbone", "assistant"), "large")
    settings = Settings(home=tmp_path, models={"large": model}, roles=roles)
    return Recipes(settings, Lake(settings.lake_root), Library(None, settings.datasets))


@pytest.mark.parametrize(("meta", "scripted"), [({}, "no"), ({"scripted": "yes"}, "yes")])
def test_who_rests_on_a_scripted_dialogue_says_so_whoever_answers(recipes, meta, scripted) -> None:
    recipes.lake.write("raw.records", RUN, [], recipe="test", meta=meta)
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
