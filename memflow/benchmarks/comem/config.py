"""The parameters of a CoMem domain: what the paper fixes by default, and what it leaves open."""

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.domains import Domain, parse_parameters

UNKNOWN: Final = "unknown"
"""The key where what was said by then does not tell the answer."""


class Parameters(BaseModel):
    """What a domain may settle.

    `checkpoints` are the shares of a context after which its questions are asked (paper, section 3.1). Before them is
    checkpoint 0, at which nothing was said. Its key is that of the `first` or the `last` of the others: the paper says
    "checkpoint 1", which is either (`guess_key`).

    `keys` says where right answers come from: two rounds of `annotated` ones (section 3.2.2); by `rule`, where the
    source says from when on what is right; `imported`, made elsewhere; or as `published`, one for all checkpoints.

    `unknown` is what becomes of a question that cannot be answered at some checkpoint and has no option that says so:
    it is left out (`drop`), or such an `option` is added to it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    checkpoints: tuple[float, ...] = Field((0.25, 0.5, 0.75, 1.0), min_length=1, max_length=20)
    guess_key: Literal["first", "last"] = "first"
    keys: Literal["annotated", "rule", "imported", "published"] = "annotated"
    unknown: Literal["drop", "option"] = "drop"
    ends: Literal["question", "context"] = "question"
    """Whether a question that its source asks before the end of its context sees what came before it alone, or, as the
    paper has it, the whole of the context at its last checkpoint."""
    persona: Literal["interleaved", "left_out"] = "interleaved"
    """Whether PersonaMem's texts about its user stay where each session begins (section 3.2.1), or are left out."""
    arrivals: Literal["message", "pair", "tokens", "session"] = "message"
    """What a memory is given at a time: a message, neighbouring messages of user and assistant, whole messages up to
    `arrival_tokens`, or a session. Memories with a buffer cut it for themselves (paper, A.3.2)."""
    arrival_tokens: int = Field(300, ge=1, le=100_000)
    scene: Literal["place", "speakers", "both"] = "place"
    """How a question of FriendsQA says which scene it is of: by season, episode and number, by who speaks in it, or
    both. Who speaks helps to guess, and is often said of several scenes of a season."""
    paraphrases: bool = False
    """Whether FriendsQA's second wording of a question is asked too."""
    most_questions: int = Field(0, ge=0)
    """How many of a season's questions FriendsQA asks at most, drawn by seed; 0 is all."""

    questions: Literal["published", "by_rule"] = "published"
    """DialSim: what is asked. What its pickle publishes needs keys that are annotated, imported or published; what is
    made from the script by rule has its keys by rule."""
    per_scene: int = Field(1, ge=0, le=1_000)
    """DialSim: how many of a scene's published questions are drawn; 0 is all."""
    asker: Literal["default", "speaker"] = "default"
    """DialSim: whether a published question is put in neutral words, or in those of one who speaks in the scene."""
    who_said: int = Field(36, ge=0, le=1_000)
    said_last: int = Field(12, ge=0, le=1_000)
    """DialSim: questions of a context by rule, of either kind: together 48, as the paper has 723 of 15 contexts."""
    scenes: Literal["date", "shown"] = "date"
    """DialSim: a season's scenes in the order of their days (paper, A.3.1), or in the one in which they were shown."""
    names: Literal["as_published", "shuffled"] = "as_published"
    """DialSim: whether people keep their names, or have those of others, so that who knows a show has no advantage."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not all(0 < share <= 1 for share in self.checkpoints):
            raise ValueError("checkpoints: shares of a context are above 0 and up to 1")
        if list(self.checkpoints) != sorted(set(self.checkpoints)):
            raise ValueError("checkpoints: give each once, the least first")
        return self


def parameters_of(domain: Domain) -> Parameters:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    return parse_parameters(Parameters, domain)
