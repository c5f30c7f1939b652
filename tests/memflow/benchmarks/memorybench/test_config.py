from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.users.action_model import ActionModel
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadSettings
from memflow.fingerprint import digest

DEMO = find_domain("memorybench_demo")


def of(**parameters: Any) -> Any:
    return parameters_of(replace(DEMO, parameters=parameters))


def test_default_parameters_of_simulated_users_match_paper() -> None:
    found = of()
    assert found.actions == ActionModel()
    assert (found.calibration, found.noise) == ("own", 0.0)


def test_domain_can_set_single_parameters_of_action_model() -> None:
    found = of(actions={"like_midpoint": 3, "copies_per_like": 2}, noise=0.5)
    assert found.actions == ActionModel(like_midpoint=3, copies_per_like=2)
    assert found.noise == 0.5


def test_calibration_histogram_is_parsed_from_toml_table() -> None:
    found = of(calibration={"general": {"7": 2, "9": 3.5}})
    assert found.calibration == {"general": {7: 2.0, 9: 3.5}}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"noise": -1}, "parameter noise"),
        ({"actions": {"like_rate": 2}}, r"parameter actions\.like_rate"),
        (
            {"actions": {"like_rate": 0.6, "dislike_rate": 0.6}},
            "the sum of like_rate and dislike_rate is above 1",
        ),
        ({"actions": {"k_L": 2}}, r"actions\.k_L"),
        ({"calibration": "guessed"}, "parameter calibration"),
        ({"calibration": {"general": {"11": 1}}}, "parameter calibration"),
        ({"calibration": {"locomo": {"9": 1}}}, "parameter calibration"),
        ({"calibration": {"general": {}}}, "parameter calibration"),
    ],
)
def test_invalid_domain_parameter_error_names_the_parameter(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        of(**wrong)


def test_domain_digest_depends_on_every_simulated_user_parameter() -> None:
    tuned: list[dict[str, Any]] = [
        {},
        {"noise": 0.5},
        {"calibration": "published"},
        {"actions": {"like_midpoint": 3}},
        {"actions": {"like_midpoint": 3, "like_steepness": 2}},
    ]
    assert len({digest(replace(DEMO, parameters=parameters)) for parameters in tuned}) == len(tuned)
