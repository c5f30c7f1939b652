"""The section [models.NAME]: a chat model, its servers, sampling, limits and prices."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from memflow.chat.requests import Sampling
from memflow.fingerprint import digest
from memflow.resources.endpoints.endpoint import LONGEST_PAUSE, RESPONSE_BYTES
from memflow.resources.endpoints.hosted_models import settings_name
from memflow.resources.endpoints.profiles import DEFAULT, Preset, Profile, preset_fields
from memflow.resources.settings.roles import TokenLimits
from memflow.resources.settings.values import Devices, StrictModel, Url

COMMAND_LINE = "cli_"
"""The first characters of the names of models that the options --url and --model define."""
OF_STARTED = ("gpus", "max_model_len", "startup")
"""Settings of a vLLM server that memflow starts."""
SECRETS = {"--api-key": "VLLM_API_KEY", "--hf-token": "HF_TOKEN"}
"""Arguments of `vllm serve` with a secret, and the environment variables that vLLM reads instead."""


def command_line_name(model: str) -> str:
    """Return the name of the model that --url and --model define: `cli_qwen_qwen3_8b` for Qwen/Qwen3-8B."""
    return COMMAND_LINE + settings_name(model)


class Model(StrictModel):
    """A chat model: its endpoint, sampling, concurrency and prices."""

    kind: Literal["scripted", "endpoint", "vllm"] = Field(
        "endpoint",
        description="scripted: no model; endpoint: an address; vllm: a vLLM server, started unless it has an "
        "address (docs/how-to/model.md).",
    )
    model: str = Field("scripted", max_length=300, description="The model's name at its server.")
    url: Url = Field("", description="The OpenAI-compatible address, such as http://127.0.0.1:8000/v1.")
    revision: str = Field(
        "", description="The revision of the weights, where the name does not identify them."
    )
    key_variable: str = Field("OPENAI_API_KEY", description="The environment variable that holds the key.")
    temperature: float = Field(0.0, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(
        None, description="The sampling seed, for servers that support one and for the scripted chat."
    )
    concurrency: int = Field(
        64,
        ge=1,
        le=4096,
        description="Maximum number of concurrent requests; reduced when the server is overloaded.",
    )
    patience: float = Field(
        120.0,
        gt=0,
        description="Seconds during which a failing request is retried, without the pauses that the server asks for.",
    )
    longest_pause: float = Field(
        LONGEST_PAUSE,
        ge=0,
        description="Seconds that a request waits at most because the server asks for it (Retry-After).",
    )
    timeout: float = Field(
        600.0, gt=0, description="Deadline of an attempt in seconds: connection, headers and body."
    )
    response_bytes: int = Field(
        RESPONSE_BYTES, ge=1000, description="Maximum size of a response in bytes, after decompression."
    )
    preset: Preset = Field(DEFAULT, description="The provider whose profile applies (docs/how-to/model.md).")
    profile: Profile = Field(
        default_factory=Profile, description="Fields in which the endpoint differs from the preset."
    )
    price_in: float = Field(
        0.0,
        ge=0,
        description="Price of a million prompt tokens; unless set, that of hosted_models.toml, or unknown.",
    )
    price_out: float = Field(0.0, ge=0, description="Price of a million answer tokens; as price_in.")
    price_cached: float | None = Field(
        None, ge=0, description="Price of a million prompt tokens that the server read from its cache."
    )
    executable: str = Field("vllm", description="For kind vllm: the `vllm` program of its own environment.")
    arguments: tuple[str, ...] = Field((), description="For kind vllm: further arguments of `vllm serve`.")
    gpus: Devices = Field(
        "", description='For kind vllm: the devices, such as "0,1" (CUDA_VISIBLE_DEVICES); by default all.'
    )
    max_model_len: int | None = Field(
        None,
        ge=1,
        description="For kind vllm: the tokens of a prompt and its answer; by default the model's.",
    )
    dtype: str = Field(
        "", max_length=40, description="For kind vllm: the number format of the weights, such as bfloat16."
    )
    quantization: str = Field(
        "", max_length=40, description="For kind vllm: the quantization of the weights, such as fp8."
    )
    startup: float = Field(
        900.0, gt=0, description="For kind vllm: seconds until a started server must be ready."
    )

    @model_validator(mode="before")
    @classmethod
    def _bounds_belong_to_roles(cls, section: Any) -> Any:
        if isinstance(section, dict) and "max_tokens" in section:
            raise ValueError(
                f"a model cannot set `max_tokens` ({section['max_tokens']!r}). Remove it, and set `output` in "
                f"[token_limits.ROLE] for the roles that the model plays: {', '.join(TokenLimits.model_fields)}."
            )
        return section

    @model_validator(mode="before")
    @classmethod
    def _complete_profile(cls, model: Any) -> Any:
        if not isinstance(model, dict) or isinstance(model.get("profile"), Profile):
            return model
        profile = model.get("profile", {})
        if not isinstance(profile, dict):
            return model
        return {**model, "profile": {**preset_fields(str(model.get("preset", DEFAULT))), **profile}}

    def with_window(self, window: int) -> "Model":
        """Return the model with a context window that its profile does not state."""
        return self.model_copy(update={"profile": self.profile.model_copy(update={"window": window})})

    @field_validator("model")
    @classmethod
    def _has_a_name(cls, model: str) -> str:
        if not model.strip():
            raise ValueError("the name is empty. Write the name under which its server offers the model.")
        return model

    @model_validator(mode="after")
    def _has_an_address(self) -> "Model":
        if self.kind == "endpoint" and not self.url:
            raise ValueError(f'the model {self.model} has kind = "endpoint" but no url. Set `url`.')
        if wrong := self._contradiction():
            raise ValueError(f"the model {self.model} {wrong}")
        return self

    def _contradiction(self) -> str | None:
        """Return what is contradictory in the settings about the server, or None."""
        names = [name for name in OF_STARTED if name in self.model_fields_set]
        if self.kind != "vllm" and names:
            return f'has `{names[0]}` but not kind = "vllm". Set kind = "vllm", or remove it.'
        names += [name for name in ("arguments",) if name in self.model_fields_set]
        if self.url and self.kind == "vllm" and names:
            return (
                f"has an address and `{names[0]}`: the server at an address runs already, and memflow starts none. "
                "Remove one of them."
            )
        if secrets := SECRETS.keys() & {word.partition("=")[0] for word in self.arguments}:
            return (
                f"has {min(secrets)} in `arguments`, and settings contain no secrets. Remove it, and set the "
                f'environment variable {SECRETS[min(secrets)]}; for requests, also key_variable = "VLLM_API_KEY".'
            )
        return None

    def has_weights_of(self, other: "Model") -> bool:
        """Return whether two models have the same weights, regardless of their sampling and addresses."""
        scripted = "scripted" in (self.kind, other.kind)
        return not scripted and (self.model, self.revision) == (other.model, other.revision)

    def fingerprint(self) -> str:
        """Return the content hash of name, revision, sampling and profile, which determine the model's answers.

        The default profile adds nothing, and neither do the settings of a started server that determine only its speed.
        """
        parts = (self.kind == "scripted", self.model, self.revision, self.sampling())
        profile = self.profile.digest()
        weights = {"dtype": self.dtype, "quantization": self.quantization}
        added = [part for part in (profile, {name: form for name, form in weights.items() if form}) if part]
        return digest(*parts, *added)

    def sampling(self) -> Sampling:
        """Return the sampling parameters; a prompt may override them, and bounds belong to roles."""
        return Sampling(self.temperature, self.top_p, seed=self.seed)
