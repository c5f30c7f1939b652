from memflow.api import Results as Results
from memflow.api import evaluate as evaluate
from memflow.api import open as open
