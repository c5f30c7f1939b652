"""Rows contain all that the published file has: users that are written from them are the published ones."""

import hashlib
import json
from dataclasses import replace

from amemgym_agents import failed_checks
from amemgym_export import export_users
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples

from memflow.benchmarks.amemgym.checks import EXPECTED
from memflow.benchmarks.registry import find_dataset


def exported(made):
    return export_users(made.states, made.turns, made.probes)


def text_of(users) -> str:
    """Return the content of a file in the published format: indented by 2, without a final newline."""
    return json.dumps(users, ensure_ascii=False, indent=2)


def same_rows(made, back) -> None:
    assert back.states.profiles == made.states.profiles
    assert back.states.variables == made.states.variables
    assert back.states.changes == made.states.changes
    assert back.turns == made.turns
    assert back.probes == [replace(probe, dataset="amemgym_v1_base") for probe in made.probes]


def test_export_of_published_users_equals_the_published_file_byte_for_byte(base, data):
    """A part of the file, or another indentation of it, is compared with its users as the authors' code writes them."""
    dataset = find_dataset("amemgym_v1_base")
    content = (data / dataset.files[0]).read_bytes()
    back = exported(base)
    assert back == json.loads(content)
    published = hashlib.sha256(content).hexdigest() == dataset.sums[dataset.files[0]]
    as_published = text_of(json.loads(content)).encode()
    assert text_of(back).encode() == (content if published else as_published)


SIZES = st.fixed_dictionaries(
    {
        "users": st.integers(1, 3),
        "periods": st.integers(1, 5),
        "questions": st.integers(1, 6),
        "variables_per_question": st.integers(1, 3),
        "choices_per_variable": st.integers(2, 4),
        "changes_per_period": st.integers(1, 6),
        "min_variants": st.integers(2, 6),
        "months_per_period": st.integers(1, 14),
        "rounds_init": st.integers(1, 2),
        "rounds_update": st.integers(1, 3),
    }
)


@examples(25)
@given(sizes=SIZES, seed=st.integers(0, 2**31))
def test_exported_generated_users_are_read_back_unchanged(demo, package, making, read_back, sizes, seed):
    assume(sizes["min_variants"] <= sizes["choices_per_variable"] ** sizes["variables_per_question"])
    domain = replace(demo.domain, parameters=sizes, seed=seed)
    made = making(domain, package)
    back = exported(made)
    again = read_back(back, domain)
    same_rows(made, again)
    assert exported(again) == back
    assert failed_checks(again, EXPECTED) == set()
