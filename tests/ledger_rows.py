"""Requests and completions for tests of the ledger, and the function that writes them from a subprocess.

A separate module is needed because a spawned process imports the function by name.
"""

from typing import Annotated

from pydantic import BaseModel, Field

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from resources.ledger import SqlLedger


class Choice(BaseModel):
    answer: Annotated[int, Field(ge=1, le=4)]


ACCOUNT = RequestContext(
    run="run 1", stage="answer", role="assistant", domain="d", assistant="full", model="m"
)


def request(text: str, prompt: str = "a/prompt") -> ChatRequest:
    return ChatRequest(
        prompt, {}, (ChatMessage("system", "Be kind."), ChatMessage("user", text)), output=Choice
    )


def completion(text: str = "yes", key: str = "") -> Completion:
    return Completion(text, "stop", 10, 3, 4, 0.25, key)


def fill(url: str, number: int, count: int) -> None:
    with SqlLedger(url) as ledger:
        for n in range(count):
            for key in (f"own {number} {n}", f"shared {n}"):
                ledger.put(key, request(key), completion(f"{number}"), ACCOUNT)
                assert ledger.get(key) is not None
                ledger.used(key, request(key), ACCOUNT)
