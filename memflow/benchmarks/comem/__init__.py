"""CoMem (ACL ARR 2026 January, submission 2305): how a memory's answers change as a dialogue grows.

The same questions are asked after each quarter of a dialogue, and before it. What is right may change; so may what a
memory gets right: it forgets, learns, and wavers. CoMem's own data are not public: contexts come from its sources, and
their keys are made here.

    parameters.py        what a domain may settle
    records.py, sources/ files -> raw records -> contexts; how each form is read
    contexts.py          a dialogue and what is asked of it
    truncation.py        what is visible at a checkpoint
    curation/            what is right at each checkpoint, and which questions are kept
    turns.py, probes.py  contexts -> turns; contexts and keys -> probes
    question.py          how a probe is put
    figures.py           verdicts -> figures, slice by slice
    speakers.py          wrong answers that are true of another speaker
    expectations/        what must hold of the rows
    scripted.py          handlers of the scripted chat
    reference.py         the figures that the paper publishes; starts.py: which of them fit together
"""

from memflow.benchmarks.comem.datasets import DATASETS
from memflow.benchmarks.comem.domains import DOMAINS
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="comem",
    title="CoMem",
    domains=DOMAINS,
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:CoMem",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    exports=f"{__name__}.views:EXPORTS",
    plots=f"{__name__}.plots:PLOTS",
    unit="contexts",
)
