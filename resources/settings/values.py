"""The types of values that sections of memflow.toml share."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints

from resources.endpoints.addresses import display_address, has_credentials


def as_tuple(names: Any) -> Any:
    """Return a single name as a tuple, and other values unchanged."""
    return (names,) if isinstance(names, str) else names


KeyVariables = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""Names of environment variables. A single name may be given without a list."""


def _without_credentials(url: str) -> str:
    if has_credentials(url):
        raise ValueError(
            f"the address {display_address(url)} contains a user or password, and settings contain no secrets. Remove "
            'them from the address. Then set `auth = "Authorization: Basic"` in the model\'s profile, and the '
            "variable of `key_variable` to the base64 of user:password."
        )
    return url


def distinct_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the judges. Raises ValueError if a name is repeated or none is given."""
    if not names or len(set(names)) < len(names):
        raise ValueError(f"the judges {list(names)} are empty or repeated. Name each judge once.")
    return names


Judges = Annotated[tuple[str, ...], BeforeValidator(as_tuple), AfterValidator(distinct_names)]
"""Names of models that judge. A single name may be given without a list."""

Url = Annotated[str, AfterValidator(_without_credentials)]
"""An address without user and password."""


def _device_list(devices: Any) -> Any:
    return str(devices) if isinstance(devices, int) and not isinstance(devices, bool) else devices


Devices = Annotated[
    str, BeforeValidator(_device_list), StringConstraints(pattern=r"^\s*[\w-]+(\s*,\s*[\w-]+)*\s*$")
]
"""The devices of one server, separated by commas. A single one may be a number."""


class StrictModel(BaseModel):
    """The base class of the sections of the settings. Sections are immutable and reject unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
