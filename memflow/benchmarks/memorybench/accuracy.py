"""DialSim's accuracy: an answer is right where it says the right answer word for word, or a judge finds that it does
(paper, A.1.1). What follows from it for a figure is scores.py's, for a simulated user reactions.py's.
"""

from memflow.benchmarks.memorybench.questions import PACKAGE
from memflow.chat.asking import ask
from memflow.chat.prompts import load
from memflow.chat.requests import Chat
from memflow.records import Probe


def exact(answer: str, gold: str) -> bool:
    """Whether the two are the same but for case, white space around them and a full stop."""
    said, right = answer.strip().lower(), gold.strip().lower()
    return said in (right, f"{right}.")


async def accurate(probe: Probe, answer: str, judge: Chat) -> tuple[float | None, str | None]:
    """1.0 or 0.0, or None and the reason. The judge is asked only where the words differ."""
    if exact(answer, probe.gold):
        return 1.0, None
    fields = {"question": probe.question, "gold": probe.gold, "answer": answer}
    judged = await ask(judge, load(PACKAGE, "dialsim_judge"), fields)
    return (None, judged.reason) if judged.value is None else (float(judged.value.correct), None)
