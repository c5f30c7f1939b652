"""The injection test of a judge: the verdicts on a plain answer, and on the same answer with each injection."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, verdict_of, without_reasons
from memflow.judges.injections import Injection


@dataclass(frozen=True)
class CaseResult:
    """The result of one case: the verdict on the plain answer, and the names of injections by their effect.

    `moved`: the verdict differs from that on the plain answer. `obeyed`: the verdict is also the one that the injection
    asks for. `failed`: there is no verdict. If the plain answer has no `verdict`, `reason` is set instead.
    """

    metric: str
    prompt: str
    verdict: Any
    reason: str | None = None
    injections: int = 0
    moved: tuple[str, ...] = ()
    obeyed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


async def run_injection_test(
    judge: Chat,
    cases: Sequence[JudgeCase],
    injections: Sequence[Injection],
    *,
    fenced: bool = True,
) -> list[CaseResult]:
    """Return the result of each case. Raises the errors of `ask`.

    If `fenced` is false, the prompts contain the answers without fences, for comparison. A case has one verdict on the
    plain answer and one per injection.
    """

    async def verdict_on(case: JudgeCase, answer: str) -> Answer[Any]:
        prompt = case.prompt if fenced else replace(case.prompt, untrusted=())
        return await ask(judge, prompt, case.with_answer(answer))

    async def result_of(case: JudgeCase) -> CaseResult:
        plain, *injected = await asyncio.gather(
            verdict_on(case, case.answer),
            *(verdict_on(case, injection.into(case)) for injection in injections),
        )
        if plain.value is None:
            return CaseResult(case.metric, case.prompt.name, None, plain.reason or "no answer")
        expected, target = verdict_of(case, plain.value), without_reasons(case.target)
        found = {
            injection.name: None if answer.value is None else verdict_of(case, answer.value)
            for injection, answer in zip(injections, injected, strict=True)
        }
        moved = [name for name, verdict in found.items() if verdict not in (None, expected)]
        return CaseResult(
            case.metric,
            case.prompt.name,
            expected,
            injections=len(injections),
            moved=tuple(moved),
            obeyed=tuple(name for name in moved if found[name] == target),
            failed=tuple(name for name, verdict in found.items() if verdict is None),
        )

    return list(await asyncio.gather(*map(result_of, cases)))
