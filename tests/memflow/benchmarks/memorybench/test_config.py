from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadSettings

DEMO = find_domain("memorybench_demo")


def of(**parameters: Any) -> Any:
    return parameters_of(replace(DEMO, parameters=parameters))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"noise": -1}, "parameter noise"),
        ({"protocol": "sideways"}, "parameter protocol"),
        ({"batch": 0}, "parameter batch"),
        ({"protocol": "stepwise", "learn_from": "liked"}, "learn_from 'liked' can only be combined"),
        ({"follow_ups": "published_code"}, "follow_ups 'published_code' can only be combined"),
        ({"actions": {"like_rate": 2}}, r"parameter actions\.like_rate"),
        (
            {"actions": {"like_rate": 0.6, "dislike_rate": 0.6}},
            "sum to more than 1; lower one of them",
        ),
        ({"actions": {"k_L": 2}}, r"actions\.k_L"),
        ({"calibration": "guessed"}, "parameter calibration"),
    ],
)
def test_invalid_domain_parameter_error_names_the_parameter(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        of(**wrong)
