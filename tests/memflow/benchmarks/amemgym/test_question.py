"""Questions: what their templates keep in memory."""

import gc
import json
import weakref

from memflow.benchmarks.amemgym.answers import Values
from memflow.benchmarks.amemgym.question import build_question
from memflow.memories.memory import Recall
from memflow.records import Probe

USERS = 400


def probe(user: int) -> Probe:
    return Probe(
        domain="d", probe_id=f"p{user}", episode_id=f"e{user}", checkpoint=0, kind="state", dataset="s",
        metric="accuracy", question=json.dumps({"diet": ["vegan", f"value {user}"]}), options=[], variables=["diet"],
        gold="{}", revealed="vegan", evidence=[],
    )  # fmt: skip


def test_output_types_of_few_users_stay_in_memory() -> None:
    output_types: list[weakref.ref[type]] = []
    for user in range(USERS):
        question = build_question(probe(user), Recall(), None)
        assert question.prompt.output is not None
        output_types.append(weakref.ref(question.prompt.output))
        parsed = question.prompt.output.model_validate({"diet": f"value {user}"})
        assert isinstance(parsed, Values)
        assert parsed.chosen() == {"diet": f"value {user}"}
    gc.collect()
    assert sum(output_type() is not None for output_type in output_types) < USERS / 2
