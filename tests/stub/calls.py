"""The types that behaviors of the stub server share: a received request, a rejection, and a draft of a response."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memflow.tokens import estimate
from stub.behavior import StubBehavior


@dataclass(frozen=True)
class Call:
    """A received chat request. `attempt` counts earlier requests with the same body."""

    body: Mapping[str, Any]
    behavior: StubBehavior
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 0

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(_text(message) for message in self.body["messages"])

    @property
    def tokens(self) -> int:
        """The estimated tokens of all messages."""
        return sum(estimate(_text(message)) for message in self.body["messages"])

    @property
    def roles(self) -> list[str]:
        """The roles of the messages."""
        return [message["role"] for message in self.body["messages"]]

    @property
    def bound(self) -> int | None:
        """The token limit of the request."""
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens")

    @property
    def format(self) -> str:
        """The type of the requested response format: text, json_object or json_schema."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def json_schema(self) -> Mapping[str, Any]:
        """The name, schema and strictness of the response format; empty for other formats."""
        return (self.body.get("response_format") or {}).get("json_schema") or {}

    @property
    def tool(self) -> Mapping[str, Any]:
        """The name and parameters of the first tool; empty without tools."""
        tools = self.body.get("tools") or [{"function": {}}]
        return tools[0]["function"]

    @property
    def thinks(self) -> bool:
        """Whether thinking is not disabled by any provider's parameter in the request."""
        body = self.body
        return not (
            (body.get("thinking") or {}).get("type") == "disabled"
            or body.get("reasoning_effort") == "none"
            or (body.get("reasoning") or {}).get("enabled") is False
            or (body.get("chat_template_kwargs") or {}).get("enable_thinking") is False
        )


def _text(message: Mapping[str, Any]) -> str:
    """Return the content of a message; empty for tool calls and lists of parts."""
    content = message.get("content")
    return content if isinstance(content, str) else ""


@dataclass(frozen=True)
class Rejection:
    """A response with an error status."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    type: str = "invalid_request_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """The whole body; None for OpenAI's form."""

    def json(self) -> Any:
        """Return the body of the response."""
        if self.body is not None:
            return self.body
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}


THOUGHT = "I think about this step by step."
"""The sentence that all thoughts repeat, for tests that no thought is kept."""


@dataclass
class Draft:
    """The draft of a response. Behaviors set the places of the answer (`content`) and the thoughts."""

    content: Any
    """The content of the message: None, a string or a list of parts."""
    is_json: bool
    prompt_tokens: int
    answer: str = field(init=False)
    """The answer that the model generated."""
    thoughts: str = ""
    ends_thoughts: bool = True
    finish: str = "stop"
    message: dict[str, Any] = field(default_factory=dict)
    """Further fields of the message."""
    reports_usage: bool = True
    body: Any = None
    """The whole body, if it is no completion."""

    def __post_init__(self) -> None:
        self.answer = self.content

    def think(self, tokens: int) -> None:
        """Add thoughts of about this number of tokens."""
        self.thoughts = (f"{THOUGHT} " * (1 + 4 * tokens // len(THOUGHT)))[: 4 * tokens]

    def limit(self, bound: int) -> None:
        """Cut the response at `bound` tokens of thoughts and content."""
        left = bound - estimate(self.thoughts)
        if left <= 0:
            self.thoughts, self.ends_thoughts = self.thoughts[: 4 * bound], False
            self.content, self.finish = "", "length"
        elif estimate(self.content) > left:
            self.content, self.finish = self.content[: 4 * left], "length"
        self.answer = self.content
