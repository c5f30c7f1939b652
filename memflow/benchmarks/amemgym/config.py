"""The parameters of an AMemGym domain. The defaults are the paper's base setting."""

from datetime import date
from typing import Literal

from pydantic import Field

from memflow.benchmarks.domains import Domain, parse_parameters
from memflow.benchmarks.models import StrictModel
from memflow.errors import BadSettings

USERS_AT_ONCE = 256
"""Users whose states are generated at once, each with one request at a time."""
TEXT_USERS_AT_ONCE = 32
"""Users whose messages or options are written at once, each with a request for each period or question."""
PUBLISHED_CONTEXT = 2
"""Number of latest session messages in the context of the published code's user model."""


class AMemGymConfig(StrictModel):
    """AMemGym's parameters (paper, section 3 and appendix A)."""

    users: int = Field(20, ge=1)
    """Number of users to generate."""
    periods: int = Field(11, ge=1, le=100)
    """Number of periods, including period 0, in which nothing changes (the paper's N_p + 1)."""
    questions: int = Field(10, ge=1, le=20)
    """Number of questions per user."""
    variables_per_question: int = Field(2, ge=1, le=4)
    """Number of state variables that determine an answer (N_s)."""
    choices_per_variable: int = Field(3, ge=2, le=6)
    """Number of values of a state variable."""
    changes_per_period: int = Field(4, ge=1)
    """Number of variables that change in a period, plus or minus one."""
    max_changes_per_variable: int = Field(3, ge=1)
    """Number of changes after which a variable stays constant, while enough others remain."""
    min_variants: int = Field(4, ge=2, le=12)
    """Least number of options of a question; variants that never occur are among them if too few do."""
    months_per_period: int = Field(3, ge=1)
    """Length of a period in months."""
    rounds_init: int = Field(1, ge=1)
    """Rounds per session in period 0; the paper's N_i counts messages (4)."""
    rounds_update: int = Field(2, ge=1)
    """Rounds per session in later periods (10 messages in the paper)."""
    start_date: date = date(2020, 10, 1)
    """Last day of period 0."""
    policy: Literal["on", "off"] = "on"
    """Whether the assistant generates its replies (`on`), or a recorded run contains all dialogues
    (`off`, section 4.2)."""
    user_model: Literal["paper", "published_code"] = "paper"
    """The user model: a system prompt with the current states, or one message without them, as in the
    published code."""
    user_context: int = Field(PUBLISHED_CONTEXT, ge=0, le=200)
    """Number of latest messages of a session that the user model sees; 0 is all (not in the paper)."""
    state_probes: Literal["question", "variable"] = "question"
    """Whether a state probe covers all variables of a question (published code) or one variable (paper)."""
    language: Literal["en", "zh"] = "en"
    """The language of all generated texts and of the assistants' prompts."""
    refinements: int = Field(3, ge=0, le=20)
    """Maximum number of rewrites of a message or an answer from which the simulator recovers the wrong state; the
    published code allows 20."""
    quarantine: Literal["item", "user"] = "item"
    """The quarantine for a message or an answer that remains wrong: the item and its dependents, or its user (published
    code)."""
    change_limit: Literal["enforced", "advised"] = "enforced"
    """Whether a variable with `max_changes_per_variable` changes is offered again only if too few others remain, or
    always, with the counts in the simulator's prompt (published code)."""
    draw: Literal["seed", "file"] = "seed"
    """Whether personas are sampled with the domain's seed, or selected in file order."""
    dates_in_notes: bool = False
    """Whether memories receive the simulated date of every message (not in the paper or the published code). The first
    message of a session contains its time either way."""

    def period_end(self, period: int) -> date:
        """Return the last day of `period`. Period 0 ends on the start date."""
        years, month = divmod(self.start_date.month - 1 + period * self.months_per_period, 12)
        return self.start_date.replace(year=self.start_date.year + years, month=month + 1)

    def rounds(self, period: int) -> int:
        """Return the number of rounds per session. A round is a user message and a reply."""
        return self.rounds_init if period == 0 else self.rounds_update


def parse_config(domain: Domain) -> AMemGymConfig:
    """Return the domain's parameters. Raises BadSettings with the invalid parameter."""
    config = parse_parameters(AMemGymConfig, domain)
    if config.start_date.day > 28:
        raise BadSettings(
            f"domain {domain.name}, parameter start_date: the day of the month is above 28. Use a day "
            "from 1 to 28."
        )
    variant_count = config.choices_per_variable**config.variables_per_question
    if config.min_variants > variant_count:
        raise BadSettings(
            f"domain {domain.name}, parameter min_variants: the value is above the {variant_count} "
            f"possible variants. Set it to at most {variant_count}."
        )
    if config.user_model == "published_code" and config.user_context != PUBLISHED_CONTEXT:
        raise BadSettings(
            f"domain {domain.name}, parameter user_context: the user model `published_code` always "
            f"sees the latest {PUBLISHED_CONTEXT} messages. Remove user_context, or set user_model to "
            '"paper".'
        )
    return config


def is_generated(domain: Domain) -> bool:
    """Return whether the simulator generates the domain's users. Otherwise a file contains them."""
    return "users" in domain.parameters
