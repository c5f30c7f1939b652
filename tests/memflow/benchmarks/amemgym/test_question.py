"""Questions: what their templates keep in memory."""

import gc
import json
import weakref

from factories import probe

from memflow.benchmarks.amemgym.answers import Values
from memflow.benchmarks.amemgym.question import build_question
from memflow.memories.memory import Recall

USERS = 400


def test_output_types_of_few_users_stay_in_memory() -> None:
    output_types: list[weakref.ref[type]] = []
    for user in range(USERS):
        options = json.dumps({"diet": ["vegan", f"value {user}"]})
        asked = probe(probe_id=f"p{user}", kind="state", question=options, variables=["diet"])
        question = build_question(asked, Recall(), None)
        assert question.prompt.output is not None
        output_types.append(weakref.ref(question.prompt.output))
        parsed = question.prompt.output.model_validate({"diet": f"value {user}"})
        assert isinstance(parsed, Values)
        assert parsed.chosen() == {"diet": f"value {user}"}
    gc.collect()
    assert sum(output_type() is not None for output_type in output_types) < USERS / 2
