"""MemBench (ACL Findings 2025, arXiv 2506.21605): factual and reflective memory, taking part and observing.

A trajectory is what one user says, with an assistant's given replies or without; then a question with four options is
asked of it. Beside accuracy it measures recall, capacity and efficiency.

    kinds.py, parameters.py     the kinds of questions, their levels and scenarios; what a domain may settle
    records.py, published/      files -> raw records -> trajectories; how each published form is read
    selection.py                which published trajectories a domain takes
    generated.py, generation/   trajectories made from users' lives
    trajectories.py             trajectories -> turns and probes
    noise/                      noise woven in between, until a trajectory has its length
    question.py                 how a probe is put
    figures.py                  verdicts -> figures, slice by slice
    capacity.py                 asked after every step, and what accuracy over tokens comes to
    tables.py, reference.py     the paper's tables, and the figures that it has in them
    plots.py, pictures.py       what is drawn: accuracy over tokens, and all else
    expectations/               what must hold of the rows
    scripted.py                 handlers of the scripted chat
"""

from memflow.benchmarks.membench.datasets import DATASETS
from memflow.benchmarks.membench.domains import DOMAINS
from memflow.benchmarks.spec import BenchmarkSpec

SPEC = BenchmarkSpec(
    name="membench",
    title="MemBench",
    domains=DOMAINS,
    datasets=DATASETS,
    implementation=f"{__name__}.benchmark:MemBench",
    checks=(f"{__name__}.checks:EXPECTED",),
    views=f"{__name__}.views:VIEWS",
    plots=f"{__name__}.plots:PLOTS",
    unit="trajectories",
)
