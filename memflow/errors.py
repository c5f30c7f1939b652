"""The exceptions of memflow.

    MemflowError
    ├── BadInput              a file, row or setting is invalid
    │   ├── MissingData       a file or partition is missing
    │   ├── DamagedFile       a file has other bytes than memflow wrote
    │   └── BadSettings       memflow.toml or the command line is invalid
    ├── PromptError           a prompt file is malformed, or a field is missing
    ├── ChatError             a chat request failed
    │   ├── RequestRefused    the server rejected the request (bad schema, unknown model)
    │   │   └── PromptTooLong the prompt is longer than the model's context window
    │   ├── DamagedRow        a row of the ledger is damaged
    │   ├── NoAnswer          the response contains no answer: blank, refused, filtered or broken
    │   └── FatalChatError    every further request of the step would fail
    │       ├── EndpointDown      the address cannot be reached
    │       ├── ModelMisconfigured    the server rejects the key, the model's name or the form of requests
    │       ├── QuotaExhausted    the provider's quota is used up
    │       └── BudgetSpent       the hard limit of a run is reached
    ├── RecallFailed          a memory could not recall: its model gave no usable answer
    ├── CannotForget          a memory has no operation for a request to forget
    ├── RestoredMemoryDiffers a memory keeps state outside its store, so its scores are refused
    ├── ServerFailed          a memory server failed at one request
    ├── ServerDown            a memory server cannot be started or reached
    ├── DownloadFailed        a published file cannot be downloaded, verified or unpacked
    ├── StoreBusy             a store was locked for too long
    ├── StoreFailed           a store cannot be used: its disk is full, or its server cannot be reached
    ├── EvaluationFailed      runs of an evaluation failed
    ├── Interrupted           the user ended the run
    └── EventLogError         Dagster's event log cannot be opened

A message states what happened, which item, and what to do. An error of a single item (one user, one probe) becomes a
row with the message in `reason`.
"""

from typing import Any


class MemflowError(Exception):
    """The base class of memflow's exceptions."""


class BadInput(MemflowError):
    """The exception for an invalid file, row or setting."""


class MissingData(BadInput):
    """The exception for a missing file or partition."""


class DamagedFile(BadInput):
    """The exception for a file whose bytes differ from those that memflow wrote."""


class BadSettings(BadInput):
    """The exception for an invalid value in memflow.toml or on the command line."""


class PromptError(MemflowError):
    """The exception for a malformed prompt file or a missing prompt field."""


class ChatError(MemflowError):
    """The exception for a failed chat request.

    `end` is the kind of failure in the ledger. With `repeats`, the partition is not up to date until a later run has
    sent the request again; otherwise the same request would fail again.
    """

    end = "failed"
    repeats = True


class FatalChatError(ChatError):
    """The base class of chat errors that end the step, since every further request would fail.

    The step writes no partition, so that nothing has to be repeated.
    """

    repeats = False


class EndpointDown(FatalChatError):
    """The exception for an endpoint whose address cannot be reached."""

    end = "unreachable"


class ModelMisconfigured(FatalChatError):
    """The exception for a key, model name, parameter, schema keyword or role that the server rejects.

    The message names the line to write into memflow.toml.
    """

    end = "misconfigured"


class RequestRefused(ChatError):
    """The exception for a chat request that the server rejected and that a retry would not fix.

    `status` is the HTTP status. `details` is the text of the error response, at most 2,000 characters, without the key.
    """

    end = "rejected"

    def __init__(self, message: str, status: int = 0, details: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.details = details


class PromptTooLong(RequestRefused):
    """The exception for a prompt that is longer than the model's context window."""

    end = "too_long"
    repeats = False


class NoAnswer(ChatError):
    """The exception for a response without an answer. `end` is a value of `memflow.chat.requests.End`."""

    def __init__(self, message: str, end: str = "broken") -> None:
        super().__init__(message)
        self.end = end
        self.repeats = end in ("blank", "broken")


class DamagedRow(ChatError):
    """The exception for a damaged completion or vector in the ledger.

    The request is not sent again until `memflow ledger forget` has deleted the row.
    """

    end = "damaged"


class QuotaExhausted(FatalChatError):
    """The exception for a provider whose quota is used up."""

    end = "quota"


class BudgetSpent(FatalChatError):
    """The exception for a chat request above the hard limit of calls, tokens or cost; the request is not sent."""

    end = "budget"


class RecallFailed(MemflowError):
    """The exception for a memory read without a usable answer of the memory's model."""


class CannotForget(MemflowError):
    """The exception for a request to forget of a form that a memory does not obey. The episode goes on."""


class RestoredMemoryDiffers(MemflowError):
    """The exception for a memory that recalls other text when it is restored from its entries. The step ends."""


class ServerFailed(MemflowError):
    """The exception for one request that a memory server did not answer validly. The rest of the run goes on."""


class ReportedError(ServerFailed):
    """The exception for an error that a memory server reports for a request, which changes nothing in its memory."""


class ServerDown(MemflowError):
    """The exception for a memory server that cannot be started or reached, also after a restart. The step ends."""


class StoreBusy(MemflowError):
    """The exception for a store that another process locked for too long."""


class StoreFailed(MemflowError):
    """The exception for a store that cannot be used: its disk is full, or its server cannot be reached."""


class EvaluationFailed(MemflowError):
    """The exception for an evaluation with failed runs. `results` has the results of the other runs."""

    def __init__(self, message: str, results: Any) -> None:
        super().__init__(message)
        self.results = results


class Interrupted(MemflowError):
    """The exception for a run that the user interrupted before it was complete."""


class EventLogError(MemflowError):
    """The exception for a Dagster event log that is damaged or has an unsupported schema version."""


class DownloadFailed(MemflowError):
    """The exception for a published file that cannot be downloaded, verified or unpacked."""
