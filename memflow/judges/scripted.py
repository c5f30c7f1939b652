"""The scripted judge `agreeable`, which accepts every answer, so that a calibration can fail without a model."""

from collections.abc import Mapping, Sequence

from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase

AGREEABLE = "agreeable"


def agreeable_handlers(handlers: Mapping[str, Handler], cases: Sequence[JudgeCase]) -> dict[str, Handler]:
    """Return the handlers of a scripted judge that accepts every answer in the prompts of `cases`."""
    calibrated = [case for case in cases if case.calibration]
    return {**handlers, **{case.prompt.name: _accepting(case) for case in calibrated}}


def _accepting(case: JudgeCase) -> Handler:
    return lambda _: case.accepted_json
