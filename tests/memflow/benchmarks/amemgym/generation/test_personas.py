"""Selection of personas, and published persona columns."""

import json
from dataclasses import replace

import pytest
from amemgym_agents import SpyChat
from factories import row
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.generation.personas import parse_persona, select_personas
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import Record

ROW = {
    "uuid": "0b1f",
    "professional_persona": "Ingrid Sol runs a print shop and trains apprentices.",
    "sports_persona": "Ingrid rows twice a week.",
    "persona": "A printer who rows.",
    "cultural_background": "Ingrid grew up on an island.",
    "skills_and_expertise": "She can repair any press.",
    "skills_and_expertise_list": "['letterpress', \"bookbinder's knots\"]",
    "hobbies_and_interests": "She rows and cooks.",
    "hobbies_and_interests_list": "['rowing', 'cooking']",
    "career_goals_and_ambitions": "She would like to open a second shop.",
    "sex": "Female",
    "age": 51,
    "marital_status": "divorced",
    "education_level": "bachelors",
    "bachelors_field": "business",
    "occupation": "printer",
    "city": "Bergen",
    "state": "NO",
    "zipcode": "5003",
    "country": "NO",
}


def domain(**parameters) -> Domain:
    return Domain(
        "mine", "amemgym", ("mine",), "Mine", {"users": 3, "periods": 2, "questions": 2, **parameters}
    )


def record(record_id: str, content: dict, source: str = "mine.jsonl", dataset: str = "mine") -> Record:
    return row(Record, dataset=dataset, record_id=record_id, source=source, content=json.dumps(content))


def named(*ids: str) -> list[Record]:
    return [record(each, {"id": each, "name": each.upper(), "about": "Somebody."}) for each in ids]


def taken(domain: Domain, records: list[Record]) -> list[str]:
    return [person.persona.id for person in select_personas(domain, records)]


IDS = [f"u{number}" for number in range(12)]


@given(st.permutations(IDS), st.integers(0, 2**32))
def test_persona_selection_with_same_seed_ignores_file_order(ids, seed):
    seeded = replace(domain(), seed=seed)
    assert taken(seeded, named(*ids)) == taken(seeded, named(*IDS))


def test_draw_parameter_selects_personas_by_seed_or_in_file_order():
    drawn = {tuple(taken(replace(domain(), seed=seed), named(*IDS))) for seed in range(5)}
    assert len(drawn) == 5
    assert taken(domain(draw="file"), named(*IDS)) == ["u0", "u1", "u2"]


def test_persona_selection_rejects_same_id_in_two_datasets():
    again = [replace(row, dataset="other") for row in named("u1")]
    with pytest.raises(BadInput, match="the persona 'u1' occurs twice"):
        select_personas(domain(users=2), named("u1") + again)


def test_persona_selection_rejects_published_users_with_states():
    user = record("u1", {"id": "u1", "state_schema": {}}, source="data.json")
    with pytest.raises(BadInput, match=r"data\.json contains users with states, not personas"):
        select_personas(domain(), [user])


def test_parse_persona_converts_nemotron_columns_to_profile_text():
    persona = parse_persona("0b1f", ROW)
    assert persona.basics().split("\n") == [
        "age: 51",
        "gender: Female",
        "marital status: divorced",
        "education level: bachelors (business)",
        "occupation: printer",
        "hobbies and interests: rowing, cooking",
        "skills and expertise: letterpress, bookbinder's knots",
    ]
    told = persona.prose()
    assert told.startswith("A printer who rows.\n\nIngrid Sol runs a print shop")
    assert "Bergen" not in told and "second shop" in told
    assert parse_persona("x", {**ROW, "bachelors_field": "no_degree"}).education_level == "bachelors"
    assert (
        parse_persona("x", {**ROW, "hobbies_and_interests_list": ["a", "b"]}).hobbies_and_interests == "a, b"
    )


async def test_persona_without_name_gets_name_from_one_model_request():
    chat = SpyChat()
    states = await AMemGym().states(domain(users=1), [record("0b1f", ROW)], chat)
    assert len(chat.asked("portrait")) == 1
    [profile] = states.profiles
    assert profile.reason is None
    # The scripted chat takes the first two words in capitals for the name.
    assert profile.name == "Ingrid Sol"
    lines = profile.profile.split("\n")
    assert (
        lines[0] == "name: Ingrid Sol"
        and lines[1] == "age: 51"
        and lines[-1].startswith("about: A printer who rows.")
    )


async def test_invalid_portrait_reply_quarantines_profile_with_reason():
    states = await AMemGym().states(domain(users=1), [record("0b1f", ROW)], SpyChat({"portrait": "no idea"}))
    [profile] = states.profiles
    assert profile.reason.startswith("amemgym/portrait: no usable answer in 3 attempts")
    assert (profile.name, states.variables, states.changes) == ("0b1f", [], [])


def test_personas_of_further_data_sets_fill_up_those_of_the_first():
    others = [replace(row, dataset="other") for row in named("v1", "v2", "v3")]
    assert set(taken(domain(users=4), [*named("u1", "u2"), *others])) >= {"u1", "u2"}
    with pytest.raises(BadInput, match="needs 6 users, but its data sets have only 5 personas"):
        select_personas(domain(users=6), [*named("u1", "u2"), *others])
