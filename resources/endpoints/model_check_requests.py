"""Requests of the model check: how they are sent, and their responses."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any

from memflow.errors import ChatError, FatalChatError, RequestRefused
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import ChatReply, read_reply
from memflow.resources.settings.chat_models import Model

PATIENCE_S = 5.0
TRIES = 2
"""A failing request is retried once, within these seconds."""
ERROR_LENGTH = 160
"""Maximum number of characters of an error message."""


@dataclass(frozen=True)
class CheckResponse:
    """The response to a request: a reply, or the status and text of an error."""

    status: int = 200
    reply: ChatReply | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the server accepted the request."""
        return self.reply is not None

    @property
    def text(self) -> str:
        """The text of the reply, without thoughts."""
        return self.reply.text if self.reply is not None else ""


Post = Callable[[Profile, Mapping[str, Any]], Awaitable[CheckResponse]]
"""Sends the body of a chat request with the headers and the URL of a profile."""


def requests_to(model: Model) -> Post:
    """Return the function that sends requests to a model. It raises EndpointDown and QuotaExhausted."""

    async def post(profile: Profile, body: Mapping[str, Any]) -> CheckResponse:
        endpoint = Endpoint(
            model.url,
            key_variable=model.key_variable,
            profile=profile,
            concurrency=1,
            patience=PATIENCE_S,
            tries=TRIES,
            setting="`url` of the model in memflow.toml",
        )
        try:
            async with endpoint:
                answer = await endpoint.post("/chat/completions", body, partial(read_reply, profile=profile))
        except FatalChatError:
            raise
        except RequestRefused as error:
            return CheckResponse(error.status, error=shorten(str(error), ERROR_LENGTH, placeholder="..."))
        except ChatError as error:
            return CheckResponse(500, error=shorten(str(error), ERROR_LENGTH, placeholder="..."))
        return CheckResponse(reply=answer.value)

    return post
