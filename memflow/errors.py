"""Every error memflow raises on purpose, drawn as a tree.

    MemflowError
    ├── BadInput              a file, row or setting is not what it has to be
    │   ├── MissingData       a published file is not where it is looked for
    │   └── BadSettings       memflow.toml or the command line asks for what cannot be
    ├── PromptError           a prompt file is malformed, or a field is missing
    ├── ChatError             a chat request got no answer
    │   ├── EndpointDown      nobody answers at the address
    │   ├── RequestRefused    the server says the request itself is wrong (too long, bad schema, no such model)
    │   └── BudgetSpent       the hard limit of a run is reached
    ├── RecallFailed          a memory could not read itself: a model that it asks gave no usable answer
    ├── TrainingFailed        no adapter came of a training
    ├── StoreBusy             a store could not be had within the time it waits
    └── EventLogError         Dagster's event log cannot be opened

A message says what, which, and what to do. What belongs to a single item (one user, one probe) is not raised
past it: it becomes a row whose `reason` holds the message.
"""


class MemflowError(Exception):
    """Root of every error memflow raises on purpose."""


class BadInput(MemflowError):
    """A file, a row or a setting is not what it has to be."""


class MissingData(BadInput):
    """A published file is not where it is looked for."""


class BadSettings(BadInput):
    """memflow.toml or the command line asks for what cannot be."""


class PromptError(MemflowError):
    """A prompt file is malformed, or a field it declares was not given."""


class ChatError(MemflowError):
    """A chat request got no answer."""


class EndpointDown(ChatError):
    """Nobody answers at the endpoint's address."""


class RequestRefused(ChatError):
    """The server says that the request itself is wrong; asking again would not help."""


class BudgetSpent(ChatError):
    """The hard limit of a run (calls, tokens or cost) is reached; nothing more is asked."""


class RecallFailed(MemflowError):
    """A memory could not read itself: a model that it asks gave no usable answer."""


class TrainingFailed(MemflowError):
    """No adapter came of a training."""


class StoreBusy(MemflowError):
    """A store could not be had within the time it waits."""


class EventLogError(MemflowError):
    """Dagster's event log cannot be opened: it is damaged, has another schema, or Dagster has another version."""
