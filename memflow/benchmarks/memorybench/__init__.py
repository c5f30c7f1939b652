"""MemoryBench (arXiv 2510.17281): does an assistant learn from its users' feedback?

Training cases are answered by a backbone and criticised by simulated users; these dialogues go into memory,
with a corpus on top where the data set has one; then test cases are asked. So off-policy, at one checkpoint; the
domain's parameter `protocol` has the others.

    tasks/                      the task provider: published files as cases, with corpora
    records.py                  files -> raw records
    parameters.py               what a domain may settle
    split.py, selection.py      the published sampling and split; what a domain takes
    utterances.py, probes.py    corpora -> turns; questions and cases -> probes
    questions.py                how a probe is put to a model
    feedback.py, sessions.py    training dialogues; what was said in them
    users/                      simulated users: what they make of an answer, and press
    protocols.py, steps.py      what is asked where and when; the cases of each step of learning
    episodes.py, onpolicy.py    episodes for the player; those in which the assistant has the dialogues itself
    leaks.py, played.py         what of a test case reached a memory; what must hold of what was played
    expectations.py             what must hold of feedback
    scores/                     the metrics: replies -> verdicts, some by a judge
    figures.py, reference.py    groups of verdicts -> figures, also on one scale
    training.py                 what a model is trained on of what they pressed
    scripted.py                 handlers of the scripted chat
"""

from memflow.benchmarks.memorybench.datasets import DATASETS
from memflow.benchmarks.memorybench.domains import DOMAINS
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="memorybench",
    title="MemoryBench",
    domains=DOMAINS,
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:MemoryBench",
    checks=(
        f"{__name__}.checks:EXPECTED",
        f"{__name__}.played:EXPECTED",
    ),
    views=f"{__name__}.views:VIEWS",
    plots=f"{__name__}.plots:PLOTS",
    unit="test questions",
    demo="memorybench_demo",
)
