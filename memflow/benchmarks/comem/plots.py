"""CoMem's plots: accuracy at each checkpoint (figure 3) and stability of answers, for domains of any benchmark."""

from memflow.benchmarks.comem.paper import order
from memflow.benchmarks.views import Plots
from memflow.plots.checkpoints import checkpoint_pictures

PLOTS = Plots(lambda reader, domain: checkpoint_pictures(reader.scores(), domain, order))
