"""The types of values that sections of memflow.toml share."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)

from memflow.resources.endpoints.addresses import ADDRESS_FORM, display_address, has_credentials, is_address


def as_tuple(names: Any) -> Any:
    """Return a single name as a tuple, and other values unchanged."""
    return (names,) if isinstance(names, str) else names


def _checked_address(url: str) -> str:
    if url and not is_address(url):
        raise ValueError(f"this is no address. Write {ADDRESS_FORM}.")
    if "?" in url:
        raise ValueError(
            f"the address {display_address(url)} has a query. Remove it, and set `query` of the profile; the preset "
            "azure sets api-version."
        )
    if url.rstrip("/").endswith(("/chat/completions", "/embeddings")):
        raise ValueError(
            f"the address {url} is that of a request. Remove the end /chat/completions or /embeddings, which memflow "
            "adds."
        )
    if has_credentials(url):
        raise ValueError(
            f"the address {display_address(url)} contains a user or password, and settings contain no secrets. Remove "
            'them from the address. Then set `auth = "Authorization: Basic"` in the model\'s profile, and put the '
            "base64 of user:password into the environment variable that `key_variable` names."
        )
    return url


def distinct_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names. Raises ValueError if a name is repeated or none is given."""
    if not names or len(set(names)) < len(names):
        raise ValueError(f"the judges {list(names)} are empty or repeated. Name each judge once.")
    return names


Judges = Annotated[tuple[str, ...], BeforeValidator(as_tuple), AfterValidator(distinct_names)]
"""Names of models that judge. A single name may be given without a list."""

Url = Annotated[str, AfterValidator(_checked_address)]
"""An http or https address without user and password; empty for none."""


def _named_path(path: Any) -> Any:
    if path == "":
        raise ValueError(
            'an empty path is the current folder, which is hardly meant. Write a path ("." for the current folder), or '
            "remove the setting."
        )
    return path


NamedPath = Annotated[Path, BeforeValidator(_named_path)]
"""A path that is not empty."""


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names. Raises ValueError if one is repeated."""
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"{', '.join(repeated)} is repeated. Name each once.")
    return names


DistinctNames = Annotated[tuple[str, ...], AfterValidator(distinct)]
"""Names without repetition."""


Devices = Annotated[str, Field(coerce_numbers_to_str=True, pattern=r"^\s*[\w-]+(\s*,\s*[\w-]+)*\s*$")]
"""The devices of one server, separated by commas. A single one may be a number."""


class StrictModel(BaseModel):
    """The base class of the sections of the settings. Sections are immutable and reject unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
