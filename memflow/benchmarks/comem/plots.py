"""CoMem's plots: accuracy over checkpoints (figure 3) and its stability, for domains of any benchmark."""

from memflow.benchmarks.comem.paper import order
from memflow.benchmarks.views import Plots
from memflow.plots.checkpoints import checkpoint_pictures

PLOTS = Plots(lambda reader, domain: checkpoint_pictures(reader.scores(), domain, order))
