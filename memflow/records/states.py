"""The rows of `raw.*` and `state.*`: published records, and the structured states of users."""

from dataclasses import dataclass, field
from typing import Annotated

from memflow.records.fields import Domain, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row per record of a published file."""

    dataset: Annotated[str, "The data set, as `memflow data` names it."]
    record_id: Annotated[str, "Unique within the data set."]
    position: Annotated[int, "Order in the published file, from 0."]
    source: Annotated[str, "The file's path inside the data folder, or inside the package."]
    sha256: Annotated[str, "SHA-256 of the file."]
    licence: Annotated[str, "The licence the file was published under."]
    origin: Annotated[str, "The source where it was published."]
    content: Annotated[str, "The record as published, as JSON; the text of a record that is not JSON."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One row per user."""

    domain: Domain
    user_id: Annotated[str, "The user; also the id of the user's episode."]
    name: Annotated[str, "The user's name."]
    profile: Annotated[str, "The user's fixed traits as text, for simulator prompts."]
    start_date: Annotated[str, "The last day of period 0, YYYY-MM-DD."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One row per user and state variable."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    variable: Annotated[str, "The state variable's name."]
    choices: Annotated[list[str], "Its possible values."]
    questions: Annotated[list[str], "Questions of the user whose answers depend on it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row per user, period and state variable that gets a value in the period; period 0 sets every variable."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    period: Annotated[int, "The period, from 0; a period is a checkpoint."]
    period_end: Annotated[str, "The period's last day, YYYY-MM-DD."]
    variable: Annotated[str, "The state variable."]
    old: Annotated[str | None, "Its value before; null in period 0."]
    value: Annotated[str, "Its value from this period on."]
    event: Annotated[str | None, "The life event that caused the change; null in period 0."] = None
    summary: Annotated[str | None, "A summary of the period; null in period 0."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One row per person, event, item or place in a user's life, and one for the user (MemBench's relation graph)."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    entity_id: Annotated[str, "Unique within the user."]
    kind: Annotated[str, "`self`, `relative`, `colleague`, `work_event`, `rest_event`, `item` or `place`."]
    name: Annotated[str, "Its name."]
    relationship: Annotated[str, "Its relation to the user: `self`, `aunt`, `boss`, `owns`, ..."]
    attributes: Annotated[str, "Gold: its attributes and their values, as a JSON object."]
    synthetic: Annotated[
        list[str], "Names of attributes with invented personal data (numbers, e-mail, documents)."
    ] = field(default_factory=list)
    reason: Reason = None
