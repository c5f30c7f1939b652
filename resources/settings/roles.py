"""The sections [roles] and [token_limits] of memflow.toml: the model and the token limits of each role."""

from pydantic import Field, field_validator

from memflow.chat.requests import TokenBound
from memflow.fingerprint import digest
from memflow.resources.settings.values import StrictModel, as_tuple, distinct_names


class Roles(StrictModel):
    """The role settings: the name of the chat model for each role."""

    simulator: str = Field("scripted", description="Plays the users: writes states, utterances and feedback.")
    judge: str | tuple[str, ...] = Field(
        "scripted",
        description="Scores replies for metrics that use a model. With a list, each of the models scores every reply.",
    )
    backbone: str = Field("scripted", description="Answers training questions in off-policy feedback.")
    assistant: str = Field("scripted", description="Answers for assistants without a model of their own.")
    annotator: str = Field("scripted", description="Labels the correct answer at each checkpoint.")
    verifier: str = Field("scripted", description="Verifies the annotator's labels; use another model.")

    @field_validator("judge")
    @classmethod
    def _judges_are_distinct(cls, judge: str | tuple[str, ...]) -> str | tuple[str, ...]:
        return judge if isinstance(judge, str) else distinct_names(judge)

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the models of the role `judge`, at least one."""
        return (self.judge,) if isinstance(self.judge, str) else self.judge

    def assigned(self) -> list[tuple[str, str]]:
        """Return (role, model) pairs. The role `judge` may occur several times."""
        return [(role, name) for role, names in self for name in as_tuple(names)]


class RoleLimit(StrictModel):
    """The token limit of a role's answers."""

    output: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Tokens of an answer. Raises the limit of a prompt; without it, 8192 where a prompt has none.",
    )
    thinking: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Tokens added to every limit, for a model that thinks before it answers.",
    )


class TokenLimits(StrictModel):
    """The token limits of answers, by role."""

    simulator: RoleLimit = RoleLimit()
    judge: RoleLimit = RoleLimit()
    backbone: RoleLimit = RoleLimit()
    assistant: RoleLimit = RoleLimit()
    memory: RoleLimit = Field(RoleLimit(), description="Requests of memories, to the assistant's model.")
    annotator: RoleLimit = RoleLimit()
    verifier: RoleLimit = RoleLimit()

    def of(self, role: str) -> TokenBound:
        """Return the token limit of a role."""
        limit: RoleLimit = getattr(self, role)
        return TokenBound(limit.output, limit.thinking)

    def fingerprint(self, *roles: str) -> str:
        """Return the content hash of the limits of some roles, which can change answers; empty for the defaults."""
        changed = {role: self.of(role) for role in roles if self.of(role) != TokenBound()}
        return digest(changed) if changed else ""
