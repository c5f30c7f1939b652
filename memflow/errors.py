"""The exceptions of memflow.

    MemflowError
    ├── BadInput              a file, row or setting is invalid
    │   ├── MissingData       a file or partition is missing
    │   └── BadSettings       memflow.toml or the command line is invalid
    ├── PromptError           a prompt file is malformed, or a field is missing
    ├── ChatError             a chat request failed
    │   ├── EndpointDown      the address cannot be reached
    │   ├── RequestRefused    the server rejected the request (too long, bad schema, unknown model)
    │   └── BudgetSpent       the hard limit of a run is reached
    ├── RecallFailed          a memory could not recall: its model gave no usable answer
    ├── TrainingFailed        a training produced no adapter
    ├── StoreBusy             a store was locked for too long
    ├── WorkerLost            a worker process ended before its work
    ├── StoreFailed           a store cannot be used: its disk is full, or its server is gone
    ├── Interrupted           the user ended the run
    └── EventLogError         Dagster's event log cannot be opened

A message states what happened, which item, and what to do. An error of a single item (one user, one probe) becomes a
row with the message in `reason`.
"""


class MemflowError(Exception):
    """Base class of memflow's exceptions."""


class BadInput(MemflowError):
    """A file, a row or a setting is invalid."""


class MissingData(BadInput):
    """A file or a partition is missing."""


class BadSettings(BadInput):
    """memflow.toml or the command line is invalid."""


class PromptError(MemflowError):
    """A prompt file is malformed, or a declared field is missing."""


class ChatError(MemflowError):
    """A chat request failed."""


class EndpointDown(ChatError):
    """The endpoint's address cannot be reached."""


class RequestRefused(ChatError):
    """The server rejected the request; a retry would not help."""


class BudgetSpent(ChatError):
    """The hard limit of a run (calls, tokens or cost) is reached; no more requests are sent."""


class RecallFailed(MemflowError):
    """A memory could not recall: its model gave no usable answer."""


class TrainingFailed(MemflowError):
    """A training produced no adapter."""


class StoreBusy(MemflowError):
    """A store was locked for too long."""


class WorkerLost(MemflowError):
    """A worker process ended before it had returned its rows."""


class StoreFailed(MemflowError):
    """A store cannot be used: its disk is full, or its server cannot be reached."""


class Interrupted(MemflowError):
    """The user ended the run before it was complete."""


class EventLogError(MemflowError):
    """Dagster's event log cannot be opened: the log is damaged, or its schema or Dagster has another version."""
