"""The parameters of an AMemGym domain. The paper's base setting is the default."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.errors import BadSettings

PUBLISHED_CONTEXT = 2
"""How many messages of a session the published code shows its user model, besides the first."""


class Sizes(BaseModel):
    """AMemGym's parameters (paper, section 3 and appendix A). `periods` counts period 0.

    `policy` says whether dialogues are played (on) or those of a recorded run are given (off; section 4.2).
    `user_model` is who speaks for the user (user.py); it sees the latest `user_context` messages of a session, 0
    for all of them: the paper does not say how many.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    users: int = Field(20, ge=1)
    periods: int = Field(11, ge=1, le=100)
    questions: int = Field(10, ge=1, le=20)
    variables_per_question: int = Field(2, ge=1, le=4)
    choices_per_variable: int = Field(3, ge=2, le=6)
    changes_per_period: int = Field(4, ge=1)
    max_changes_per_variable: int = Field(3, ge=1)
    min_variants: int = Field(4, ge=2, le=12)
    months_per_period: int = Field(3, ge=1)
    rounds_init: int = Field(1, ge=1)
    rounds_update: int = Field(2, ge=1)
    start_date: date = date(2020, 10, 1)
    policy: Literal["on", "off"] = "on"
    user_model: Literal["paper", "published_code"] = "paper"
    user_context: int = Field(PUBLISHED_CONTEXT, ge=0, le=200)
    state_probes: Literal["question", "variable"] = "question"
    """What a state probe asks for: all variables of a question at once, as published, or each variable by itself,
    as the paper says."""
    language: Literal["en", "zh"] = "en"
    """The language of everything that is written of the users, and of what assistants are asked."""
    refinements: int = Field(3, ge=0, le=20)
    """How often a message or an answer that is not understood is written again before it is given up."""
    draw: Literal["seed", "file"] = "seed"
    """Which personas are taken: by the domain's seed, or the first of the file."""
    leave_out: tuple[str, ...] = ()
    """Ids of personas that are not taken."""

    def period_end(self, period: int) -> date:
        """The last day of `period`; period 0 ends on the start date."""
        years, month = divmod(self.start_date.month - 1 + period * self.months_per_period, 12)
        return self.start_date.replace(year=self.start_date.year + years, month=month + 1)

    def rounds(self, period: int) -> int:
        """Rounds of a session: a user message and a reply each."""
        return self.rounds_init if period == 0 else self.rounds_update


def sizes_of(domain: Domain) -> Sizes:
    """The domain's parameters. Raises BadSettings naming the one that is wrong."""
    sizes = parse_parameters(Sizes, domain)
    if sizes.start_date.day > 28:
        raise BadSettings(f"domain {domain.name}, parameter start_date: take a day up to the 28th")
    possible = sizes.choices_per_variable**sizes.variables_per_question
    if sizes.min_variants > possible:
        raise BadSettings(
            f"domain {domain.name}, parameter min_variants: only {possible} variants are possible"
        )
    if sizes.user_model == "published_code" and sizes.user_context != PUBLISHED_CONTEXT:
        raise BadSettings(
            f"domain {domain.name}, parameter user_context: the published code's user model sees the latest "
            f"{PUBLISHED_CONTEXT} messages; leave user_context out, or take user_model paper"
        )
    return sizes


def generated(domain: Domain) -> bool:
    """Whether the simulator makes the domain's states, utterances and probes, and no file holds them."""
    return "users" in domain.parameters
