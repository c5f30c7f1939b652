"""The Dagster code location: one file per stage. Start at definitions.py, which reads as the walk."""

import warnings

import dagster as dg

# Observed assets by partition and checks by partition are new in Dagster. We use them knowingly (the lock fixes the
# version, tests/daemon holds what they do); a person who runs memflow need not hear of it at every start.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
