"""The pipeline step that calibrates the judges of a domain, before any of their verdicts counts."""

import asyncio
from itertools import product

from memflow.judges.calibration import calibrate, known_answers
from memflow.run.context import JUDGED, StepContext, Tables


async def calibrate_judges(context: StepContext) -> Tables:
    """Ask each judge for verdicts on known answers, for each of its prompts and each language of the judged probes."""
    benchmark, domain = context.benchmark, context.domain
    prompts = {prompt.name: prompt for table in JUDGED for prompt in benchmark.judge_prompts(domain, table)}
    if not (prompts and context.calibrates):
        return {"score.calibrations": []}
    cases = [case for case in benchmark.judge_cases() if case.prompt.name in prompts]
    languages = sorted({probe.language for probe in context.test_probes() if benchmark.is_judged(probe)})
    judges = await context.models.judges(domain.name)
    calibrations = list(product(judges, cases, languages))
    answer_count = sum(len(known_answers(case, language)) for _, case, language in calibrations)
    count_answer = context.models.expect(answer_count)
    rows = await asyncio.gather(
        *(
            calibrate(judges[name], case, language, domain=domain.name, name=name, tick=count_answer)
            for name, case, language in calibrations
        )
    )
    return {"score.calibrations": rows}
