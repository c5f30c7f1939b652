"""The catalog of all prompts and the roles that receive them."""

from pathlib import Path

import memflow
from memflow.run.prompt_catalog import PROMPT_ROLES, prompt_catalog

FOLDER = Path(str(memflow.__file__)).parent


def test_prompt_catalog_contains_every_packaged_prompt_under_a_unique_name() -> None:
    files = sorted(path.read_text(encoding="utf-8") for path in FOLDER.rglob("prompts/*.md"))
    shipped = [each for each in prompt_catalog().values() if each.package.startswith("memflow.")]
    assert sorted(each.text for each in shipped) == files
    assert all(
        name == each.prompt.name == f"{each.owner}/{each.stem}" for name, each in prompt_catalog().items()
    )


def test_prompt_catalog_contains_the_roles_that_receive_each_prompt() -> None:
    catalog = prompt_catalog()
    assert {role for each in catalog.values() for role in each.roles} == set(PROMPT_ROLES)
    expected = {
        "amemgym/choice": ("assistant",),
        "amemgym/unify_zh": ("simulator",),
        "amemgym/claims": ("judge",),
        "comem/verify": ("annotator",),
        "comem/choice": ("assistant",),
        "memorybench/criteria": ("judge",),  # no registered domain has the variant that sends it
        "memorybench/dialsim_judge": ("simulator", "judge"),
        "memorybench/right": ("simulator",),
        "awi/update": ("memory",),
        "chat/again": ("any",),
    }
    assert {name: catalog[name].roles for name in expected} == expected
