"""Scripted judges that fail, so that the injection test and the calibration can fail without a language model.

`agreeable` accepts every answer. `gullible` obeys an instruction anywhere in the prompt, and `fence_only` outside of
fences. The default scripted judge reads only the fields of a prompt and obeys no injection.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase

_FENCED = re.compile(r"<<<([0-9a-f]{16})\n.*?\n\1>>>", re.DOTALL)
FAILING: Mapping[str, Callable[[str], str] | None] = {
    "agreeable": None,
    "gullible": lambda text: text,
    "fence_only": lambda text: _FENCED.sub("", text),
}
"""The part of a message in which each scripted judge obeys instructions; None for one that needs no instruction."""


def failing_handlers(
    handlers: Mapping[str, Handler], cases: Sequence[JudgeCase], name: str
) -> dict[str, Handler]:
    """Return, by prompt, the handlers of the scripted judge `name`, which fails in the prompts of `cases`."""
    of_cases = {case.prompt.name: _failing(handlers[case.prompt.name], case, FAILING[name]) for case in cases}
    return {**handlers, **of_cases}


def _failing(handler: Handler, case: JudgeCase, visible: Callable[[str], str] | None) -> Handler:
    def answer(request: ChatRequest) -> str:
        seen = "\n".join(visible(message.content) for message in request.messages) if visible else case.asks
        if case.asks in seen or case.accepted_json in seen:
            return case.accepted_json
        given = handler(request)
        return given if isinstance(given, str) else given.model_dump_json()

    return answer
