"""The sections [roles] and [bounds]: the model and the token bounds of each role."""

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
        """The models of the role `judge`."""
        return (self.judge,) if isinstance(self.judge, str) else self.judge

    def assigned(self) -> list[tuple[str, str]]:
        """Return (role, model) pairs. The role `judge` may occur several times."""
        return [(role, name) for role, names in self for name in as_tuple(names)]


class RoleBound(StrictModel):
    """The bound on the tokens of a role's answers."""

    output: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Tokens of an answer. Raises the bound of a prompt; without it, 8192 where a prompt has none.",
    )
    thinking: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Tokens added to every bound, for a model that thinks before it answers.",
    )


class Bounds(StrictModel):
    """The bounds on answers, by role."""

    simulator: RoleBound = RoleBound()
    judge: RoleBound = RoleBound()
    backbone: RoleBound = RoleBound()
    assistant: RoleBound = RoleBound()
    memory: RoleBound = Field(RoleBound(), description="Requests of memories, to the assistant's model.")
    annotator: RoleBound = RoleBound()
    verifier: RoleBound = RoleBound()

    def of(self, role: str) -> TokenBound:
        """Return the bound of a role."""
        bound: RoleBound = getattr(self, role)
        return TokenBound(bound.output, bound.thinking)

    def fingerprint(self, *roles: str) -> str:
        """Return the content hash of the bounds of some roles, which can change answers; empty for the defaults."""
        changed = {role: self.of(role) for role in roles if self.of(role) != TokenBound()}
        return digest(changed) if changed else ""
