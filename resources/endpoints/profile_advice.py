"""What the requests of a model show about its profile. `memflow models check` finds a profile that fits.

A request is never changed and repeated in silence, since its form affects the answers.
"""

from collections import Counter
from itertools import pairwise

from memflow.chat.requests import ChatRequest
from memflow.errors import ModelMisconfigured, PromptTooLong, RequestRefused
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import ChatReply

SIGNS = 5
"""Requests that end alike, none or few of which should, after which the profile is known not to fit."""
THINKING_TOKENS = 2048
"""A token limit in which most thoughts end."""
OF_ALL_REQUESTS = (401, 404)
"""Statuses with which a server rejects the key, the URL or the model, and so all requests."""

Form = tuple[str, frozenset[tuple[str, str]]]
"""What a server accepts or rejects alike: a prompt, and which roles follow which."""


class ProfileFit:
    """Counts of requests that end as if the profile does not fit the server.

    `section` is the model's table in memflow.toml, such as models.gpt; "" for the model of the command line.
    """

    def __init__(self, model: str, section: str, profile: Profile) -> None:
        self._model, self._section, self._profile = model, section, profile
        self._accepted: set[Form] = set()
        self._sent, self._rejected = Counter[Form](), Counter[Form]()
        self._has_json = False
        self._prose = self._narrow = self._lost = 0

    def on_request(self, request: ChatRequest) -> None:
        """Count a request."""
        self._sent[_form(request)] += 1

    def on_rejection(
        self, error: RequestRefused, request: ChatRequest
    ) -> RequestRefused | ModelMisconfigured:
        """Return the error to raise for a rejected request: ModelMisconfigured if the server would reject all alike.

        A few odd requests fail alone. Rejections arrive before the answers to requests that were sent at the same time.
        """
        form = _form(request)
        if isinstance(error, PromptTooLong) or (form in self._accepted and error.status != 401):
            return error
        self._rejected[form] += 1
        many = max(SIGNS, self._sent[form] // 2)
        if error.status in OF_ALL_REQUESTS or self._rejected[form] >= many:
            return self.misfit(str(error))
        message = f"{str(error).rstrip('.')}. If all such requests are rejected: {self._advice()}"
        return RequestRefused(message, error.status, error.details)

    def on_reply(self, reply: ChatReply, request: ChatRequest, limit: int) -> None:
        """Count a reply to a request with a token limit. Raises ModelMisconfigured if too many are no answers."""
        self._accepted.add(_form(request))
        if reply.end not in ("answered", "cut"):
            return
        if limit < THINKING_TOKENS:
            thinks = bool(reply.thoughts or reply.usage.reasoning)
            self._narrow += 1
            self._lost += reply.end == "cut" and not reply.text.strip() and thinks
            if self._lost >= SIGNS and 2 * self._lost >= self._narrow:
                raise self.misfit(
                    f"{self._model} thinks until the token limit, so that there is no room for answers: its profile "
                    "needs `headroom`"
                )
        structured = self._profile.structured
        if request.output is None or structured == "prompt" or self._has_json:
            return
        self._has_json = "{" in reply.text
        # A model may decline a few users' questions in prose, at each attempt.
        self._prose += reply.end == "answered" and request.attempt == 0
        if self._prose >= SIGNS and not self._has_json:
            raise self.misfit(
                f'{self._model} answers in prose: its server ignores `structured = "{structured}"`'
            )

    def misfit(self, fault: str) -> ModelMisconfigured:
        """Return the error for a fault of all requests, with the command that finds the settings."""
        return ModelMisconfigured(f"{fault.rstrip('.')}. {self._advice()}")

    def _advice(self) -> str:
        if self._section:
            return (
                f"Fix `model`, `url` or the profile below [{self._section}] in memflow.toml, then rerun. "
                f"`memflow models check {self._section.partition('.')[2]}` prints the profile that fits."
            )
        return (
            "Fix --model or --url, or add --preset with the server's provider, then rerun. For another profile, define "
            "the model in memflow.toml and run `memflow models check NAME`."
        )


def _form(request: ChatRequest) -> Form:
    roles = ["", *(message.role for message in request.messages)]
    return request.prompt, frozenset(pairwise(roles))
