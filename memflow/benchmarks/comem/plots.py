"""CoMem's pictures: accuracy over checkpoints (figure 3) and its stability, for domains of any benchmark."""

from memflow.benchmarks.comem.paper import order
from memflow.benchmarks.views import Pictures, Plots, Reader
from memflow.plots.checkpoints import checkpoint_pictures


def _of_domain(reader: Reader, domain: str) -> Pictures:
    return checkpoint_pictures(reader.scores(), domain, order)


PLOTS = Plots(_of_domain)
