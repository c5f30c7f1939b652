"""The sections of memflow.toml: models, roles, embedder, encoders, and a user's memories, data sets and domains."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import DEFAULT_PROFILE, ProtocolProfile
from memflow.chat.requests import Sampling, TokenBound
from memflow.fingerprint import digest
from memflow.labels import HASHING
from resources.endpoints.addresses import display_address, has_credentials
from resources.endpoints.endpoint import LONGEST_PAUSE, RESPONSE_BYTES
from resources.endpoints.profiles import DEFAULT, Preset, Profile, preset_fields
from resources.vllm_servers.arguments import contradiction


def _listed(names: Any) -> Any:
    return (names,) if isinstance(names, str) else names


KeyVariables = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Names of environment variables. A single name may be given without a list."""


def _without_credentials(url: str) -> str:
    if has_credentials(url):
        raise ValueError(
            f"the address {display_address(url)} contains a user or password, and settings contain no secrets. Remove "
            'them from the address. Then set `auth = "Authorization: Basic"` in the model\'s profile, and the '
            "variable of `key_variable` to the base64 of user:password."
        )
    return url


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise ValueError(f"the judges {list(names)} are empty or repeated. Name each judge once.")
    return names


Judges = Annotated[tuple[str, ...], BeforeValidator(_listed), AfterValidator(_distinct)]
"""Names of models that judge. A single name may be given without a list."""

Url = Annotated[str, AfterValidator(_without_credentials)]
"""An address without user and password."""


COMMAND_LINE = "cli_"
"""The first characters of the names of models that the options --url and --model define."""


def command_line_name(model: str) -> str:
    """Return the name of the model that --url and --model define: `cli_qwen_qwen3_8b` for Qwen/Qwen3-8B."""
    return COMMAND_LINE + re.sub("[^a-z0-9_]+", "_", model.lower())


def _device_list(devices: Any) -> Any:
    return str(devices) if isinstance(devices, int) and not isinstance(devices, bool) else devices


Devices = Annotated[
    str, BeforeValidator(_device_list), StringConstraints(pattern=r"^\s*[\w-]+(\s*,\s*[\w-]+)*\s*$")
]
"""The devices of one server, separated by commas. A single one may be a number."""


class StrictModel(BaseModel):
    """The base class of the sections of the settings. Sections are immutable and reject unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Model(StrictModel):
    """A chat model: its endpoint, sampling, concurrency and prices."""

    kind: Literal["scripted", "endpoint", "vllm"] = Field(
        "endpoint",
        description="scripted: no model; endpoint: an address; vllm: a vLLM server, started unless it has an "
        "address (docs/how-to/vllm.md).",
    )
    model: str = Field("scripted", max_length=300, description="The model's name at its server.")
    url: Url = Field("", description="The OpenAI-compatible address, such as http://127.0.0.1:8000/v1.")
    urls: tuple[Url, ...] = Field(
        (),
        description="Instead of `url`: the addresses of several servers of this model. Requests of one conversation go "
        "to one of them.",
    )
    revision: str = Field(
        "", description="The revision of the weights, where the name does not identify them."
    )
    key_variable: KeyVariables = Field(
        ("OPENAI_API_KEY",),
        description="The environment variable that holds the key, or a list of variables whose keys are used in turn.",
    )
    temperature: float = Field(0.0, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(
        None, description="The sampling seed, for servers that support one and for the scripted chat."
    )
    concurrency: int = Field(
        64,
        ge=1,
        le=4096,
        description="Maximum number of concurrent requests to each address; reduced when the server is overloaded.",
    )
    total_concurrency: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Maximum number of concurrent requests of all processes and hosts with the same ledger.",
    )
    requests_per_minute: float | None = Field(
        None,
        ge=1,
        description="Maximum number of requests in a minute, over all processes with the same ledger.",
    )
    tokens_per_minute: float | None = Field(
        None,
        ge=1,
        description="Maximum number of prompt and answer tokens in a minute, over all processes with the same "
        "ledger. Answers are expected to be as long as the last ones.",
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
    price_in: float = Field(0.0, ge=0, description="Price of a million prompt tokens.")
    price_out: float = Field(0.0, ge=0, description="Price of a million answer tokens.")
    executable: str = Field("vllm", description="For kind vllm: the `vllm` program of its own environment.")
    arguments: tuple[str, ...] = Field((), description="For kind vllm: further arguments of `vllm serve`.")
    adapter: str = Field(
        "",
        description="For kind vllm: the folder of an adapter of `model`; `revision` is in its manifest.json.",
    )
    replicas: int = Field(1, ge=1, le=256, description="For kind vllm: the servers that are started.")
    gpus: tuple[Devices, ...] = Field(
        (),
        description='For kind vllm: the devices of each replica, such as ["0,1", "2,3"] (CUDA_VISIBLE_DEVICES); by '
        "default consecutive ones.",
    )
    tensor_parallel: int = Field(
        1, ge=1, le=256, description="For kind vllm: the devices that hold the weights of a replica together."
    )
    data_parallel: int = Field(
        1, ge=1, le=256, description="For kind vllm: the engines of a replica, behind one address."
    )
    gpu_memory: float | None = Field(
        None,
        gt=0,
        le=1,
        description="For kind vllm: the share of each device's memory; vLLM's default is 0.9.",
    )
    max_model_len: int | None = Field(
        None,
        ge=1,
        description="For kind vllm: the tokens of a prompt and its answer. An existing server must accept as many.",
    )
    prefix_caching: bool | None = Field(
        None, description="For kind vllm: whether prompts share computed prefixes; by default vLLM decides."
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
    idle: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description="For kind vllm: seconds after which a started server ends that no process uses.",
    )

    @model_validator(mode="before")
    @classmethod
    def _bounds_belong_to_roles(cls, given: Any) -> Any:
        if isinstance(given, dict) and "max_tokens" in given:
            raise ValueError(
                "a model cannot set `max_tokens`. Remove it, and set `output` in [bounds.ROLE] for the roles that "
                f"the model plays: {', '.join(Bounds.model_fields)}."
            )
        return given

    @model_validator(mode="before")
    @classmethod
    def _complete_profile(cls, model: Any) -> Any:
        if not isinstance(model, dict) or isinstance(model.get("profile"), Profile):
            return model
        given = model.get("profile", {})
        if not isinstance(given, dict):
            return model
        return {**model, "profile": {**preset_fields(str(model.get("preset", DEFAULT))), **given}}

    @model_validator(mode="after")
    def _has_an_address(self) -> "Model":
        if self.kind == "endpoint" and not self.addresses:
            raise ValueError(f'the model {self.model} has kind = "endpoint" but no url. Set `url`.')
        if self.url and self.urls:
            raise ValueError(f"the model {self.model} has `url` and `urls`. Remove one of them.")
        if len(set(self.urls)) < len(self.urls):
            raise ValueError(f"the model {self.model} repeats an address in `urls`. Name each server once.")
        if self.adapter and self.kind != "vllm":
            raise ValueError(
                f'the model {self.model} has an adapter but not kind = "vllm". Set kind = "vllm".'
            )
        if self.adapter and not self.revision:
            raise ValueError(
                f"the adapter {self.adapter} has no `revision`. Copy the revision from the adapter's "
                "manifest.json."
            )
        if wrong := contradiction(self):
            raise ValueError(f"the model {self.model} {wrong}")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the model's servers that run already; they are not in its fingerprint."""
        return self.urls or ((self.url,) if self.url else ())

    @property
    def has_shared_limits(self) -> bool:
        """Whether limits of the model hold over all processes with the same ledger."""
        limits = (self.total_concurrency, self.requests_per_minute, self.tokens_per_minute)
        return any(limit is not None for limit in limits)

    @property
    def capacity(self) -> int:
        """The maximum number of concurrent requests at all addresses together."""
        return self.concurrency * max(1, len(self.addresses))

    @property
    def served_as(self) -> str:
        """The model name in requests; for an adapter, the name of its folder."""
        return Path(self.adapter).name if self.adapter else self.model

    def has_weights_of(self, other: "Model") -> bool:
        """Return whether two models have the same weights, regardless of their sampling and addresses."""
        scripted = "scripted" in (self.kind, other.kind)
        return not scripted and (self.served_as, self.revision) == (other.served_as, other.revision)

    def fingerprint(self) -> str:
        """Return the content hash of name, revision, sampling and profile, which determine the model's answers.

        The default profile adds nothing, and neither do the settings of a started server that determine only its speed.
        """
        parts = (self.kind == "scripted", self.served_as, self.revision, self.sampling())
        profile = self.profile.digest()
        weights = {"dtype": self.dtype, "quantization": self.quantization}
        added = [each for each in (profile, {name: form for name, form in weights.items() if form}) if each]
        return digest(*parts, *added)

    def sampling(self) -> Sampling:
        """Return the sampling parameters; a prompt may override them, and bounds belong to roles."""
        return Sampling(self.temperature, self.top_p, seed=self.seed)


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
        return judge if isinstance(judge, str) else _distinct(judge)

    @property
    def judges(self) -> tuple[str, ...]:
        """The models of the role `judge`."""
        return (self.judge,) if isinstance(self.judge, str) else self.judge

    def assigned(self) -> list[tuple[str, str]]:
        """Return (role, model) pairs. The role `judge` may occur several times."""
        return [(role, name) for role, names in self for name in _listed(names)]


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


class Embedder(StrictModel):
    """The settings of the embedding model."""

    kind: Literal["hashing", "endpoint", "folder"] | None = Field(
        None,
        description="endpoint: an address; folder: sentence-transformers weights; hashing: built in, compares words. "
        "Without a kind, the scripted chat gets hashing, and a language model is refused memories that need one.",
    )
    model: str = Field("", description="The model's name at the endpoint, or the folder of weights.")
    url: Url = Field("", description="The OpenAI-compatible address.")
    urls: tuple[Url, ...] = Field(
        (), description="Instead of `url`: the addresses of several servers of this model."
    )
    key_variable: KeyVariables = Field(
        ("OPENAI_API_KEY",),
        description="The environment variable that holds the key, or a list of variables whose keys are used in turn.",
    )
    dimensions: int = Field(256, ge=8, le=65536, description="Length of the hashing embedder's vectors.")

    @model_validator(mode="after")
    def _is_whole(self) -> "Embedder":
        if self.kind is None and (self.addresses or self.model):
            raise ValueError('url or model is given, but no kind. Add kind = "endpoint" or kind = "folder"')
        if self.url and self.urls:
            raise ValueError("the embedder has `url` and `urls`. Remove one of them from [embedder]")
        if len(set(self.urls)) < len(self.urls):
            raise ValueError("the embedder repeats an address in `urls`. Name each server once.")
        address = "urls" if self.urls else "url"
        needed = {"endpoint": (address, "model"), "folder": ("model",)}.get(self.kind or "", ())
        for name in needed:
            if not getattr(self, name):
                raise ValueError(f'an embedder of kind "{self.kind}" has no `{name}`. Add it to [embedder]')
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the embedder's servers; they are not in its fingerprint."""
        return self.urls or ((self.url,) if self.url else ())

    @property
    def name(self) -> str:
        """The embedder's name on the leaderboard: the name of its model, or `hashing-256`."""
        if self.kind == "folder":
            return Path(self.model).name
        return self.model if self.kind == "endpoint" else f"{HASHING}-{self.dimensions}"

    def fingerprint(self) -> str:
        """Return the content hash of the settings that determine the vectors."""
        return digest(self.kind or HASHING, self.model, self.name)


class BudgetLimits(StrictModel):
    """The hard limits on calls, tokens and cost."""

    name: str = Field(
        "",
        max_length=100,
        pattern=r"^[\w.-]*$",
        description="All processes and hosts with the same ledger share the limits under this name, and what was spent "
        "stays spent (`memflow budget`). Without a name, each command and each Dagster run has the whole limits.",
    )
    calls: int | None = Field(None, ge=1, description="Maximum number of requests.")
    tokens: int | None = Field(None, ge=1, description="Maximum number of prompt and answer tokens.")
    cost: float | None = Field(None, gt=0, description="Maximum cost, by the models' prices.")


class History(StrictModel):
    """What `memflow gc` keeps of the rows that later runs replaced."""

    days: float = Field(
        30, ge=0, le=36_500, description="Remove rows that were replaced longer ago, in days."
    )
    gigabytes: float = Field(
        5, ge=0, le=1_000_000, description="Remove the oldest replaced rows beyond this size, in gigabytes."
    )


class Training(StrictModel):
    """The environment that trains adapters (`memflow finetune`)."""

    python: str = Field("", description="The Python of an environment with memflow's extra `sft`.")


class Encoder(StrictModel):
    """The model of BERTScore for texts of one language: a local folder of transformers weights."""

    folder: Path = Field(description="The folder of weights, such as roberta-base or bert-base-chinese.")
    name: str = Field(
        "", max_length=100, description="The name that scores show; the folder's name where empty."
    )
    layer: int | None = Field(
        None, ge=1, le=200, description="The layer; by default that of the bert-score package."
    )


SECRET = re.compile(r"(?i)(^|_|-)(api_?key|token|secret|password|passwd|credentials?)$")
"""Names of settings whose values are secrets."""


def _names(settings: Any) -> Iterator[str]:
    """Yield the names in nested tables."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            yield name
            yield from _names(value)
    elif isinstance(settings, list):
        for each in settings:
            yield from _names(each)


class ServerTimeLimits(StrictModel):
    """The maximum number of seconds between a request to a memory server and its answer."""

    hello: float = Field(30.0, gt=0, description="Of the first request, which includes the start.")
    read: float = Field(60.0, gt=0, description="Of reads, and of requests without messages.")
    write: float = Field(600.0, gt=0, description="Of writes, exports, forks and restores.")


class OwnMemory(StrictModel):
    """A user's memory system: a class, a shipped system with other parameters, or a memory server."""

    path: str = Field("", description="The import path of its class: my_package.my_module:MyMemory.")
    system: str = Field("", description="Instead of a path: the name of a known system, such as rag.")
    command: tuple[str, ...] = Field(
        (),
        description="Instead of a path: the program of a memory server and its arguments, without a shell. Paths are "
        "relative to the settings file.",
    )
    url: Url = Field("", description="Instead of a path: the address of a memory server that runs already.")
    parameters: dict[str, int | float | str | bool | tuple[str, ...]] = Field(default_factory=dict)
    mode: str = Field(
        "",
        description="Of a memory server: how it is read as of a checkpoint (docs/how-to/memory_server.md); by default "
        "the best mode that its capabilities allow.",
    )
    k: int | None = Field(None, ge=1, description="Of a memory server: the items that a read requests.")
    budget: int | None = Field(
        None, ge=0, description="Of a memory server: the tokens of its notes in a prompt; 0 is no limit."
    )
    timeout: ServerTimeLimits = Field(
        ServerTimeLimits(),
        description="Of a memory server: the time limits in seconds, as a number or by operation.",
    )
    variables: tuple[str, ...] = Field(
        (),
        description="Of a command: the names of environment variables that it receives, such as those with keys. "
        "Others than PATH, HOME and the locale are not passed on.",
    )
    key_variable: str = Field(
        "", description="Of an address: the environment variable with the key (Authorization: Bearer)."
    )
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Of a memory server: sent to it with `hello`, and in the fingerprint.",
    )
    revision: str = Field(
        "", description="Of a memory server: what its version does not identify, such as an image digest."
    )
    folder: Path = Field(
        Path(), description="Of a command: the folder in which it runs, relative to the settings file."
    )

    @field_validator("command", mode="before")
    @classmethod
    def _is_a_list(cls, command: Any) -> Any:
        if isinstance(command, str):
            raise ValueError(
                f"`command` is a text, and a memory server starts without a shell. Write a list of words: "
                f"command = {json.dumps(command.split())}"
            )
        if isinstance(command, list | tuple) and command and not str(command[0]).strip():
            raise ValueError(
                '`command` begins with an empty word. Write the program first: command = ["python", ...]'
            )
        return command

    @field_validator("settings")
    @classmethod
    def _has_no_secret(cls, settings: dict[str, Any]) -> dict[str, Any]:
        if found := next(filter(SECRET.search, _names(settings)), None):
            raise ValueError(
                f"`settings` has the name {found!r} of a secret, and settings contain no secrets. Remove it, name an "
                "environment variable in `variables`, and read the variable in the server."
            )
        return settings

    @field_validator("timeout", mode="before")
    @classmethod
    def _of_all_operations(cls, timeout: Any) -> Any:
        if isinstance(timeout, int | float) and not isinstance(timeout, bool):
            return dict.fromkeys(ServerTimeLimits.model_fields, timeout)
        return timeout

    @model_validator(mode="after")
    def _is_one_thing(self) -> "OwnMemory":
        kinds = [name for name in ("path", "system", "command", "url") if getattr(self, name)]
        if len(kinds) != 1:
            given = f"has {' and '.join(f'`{name}`' for name in kinds)}" if kinds else "has none of them"
            raise ValueError(
                "a memory of the settings needs one of `path`, `system`, `command` and `url`, and "
                f'{given}. Set only path = "my_package.my_module:MyMemory", system = "rag", '
                'command = ["python", "server.py"] or url = "http://127.0.0.1:9000".'
            )
        if not self.is_server:
            extra = sorted(self.model_fields_set - {"path", "system", "parameters"})
            if extra:
                raise ValueError(
                    f"`{extra[0]}` belongs to a memory server, and this memory has `{kinds[0]}`. Remove it, or use "
                    "`parameters`."
                )
        wrong = {"variables", "folder"} if self.url else {"key_variable"}
        if self.is_server and (unused := sorted(self.model_fields_set & wrong)):
            raise ValueError(f"`{unused[0]}` has no effect beside `{kinds[0]}`. Remove it.")
        return self

    @property
    def is_server(self) -> bool:
        """Whether the memory is a memory server."""
        return bool(self.command or self.url)

    def own_parameters(self) -> dict[str, Any]:
        """Return the parameters of the memory, by name."""
        of_server = {"mode": self.mode or None, "k": self.k, "budget": self.budget}
        return {**self.parameters, **{name: value for name, value in of_server.items() if value is not None}}


class OwnDataset(StrictModel):
    """A user's data set that a benchmark can read: personas, users, or a recorded run."""

    benchmark: str = Field(description="The benchmark whose reader reads them.")
    files: tuple[str, ...] = Field(
        min_length=1,
        description="Paths: absolute, from ~, or relative to the settings file or to the data folder; * matches any "
        "name.",
    )
    title: str = ""
    licence: str = Field("the user's own", description="Stored with every record.")
    origin: str = Field("memflow.toml", description="The source; stored with every record.")
    sums: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 by path; a file with another one is rejected."
    )

    def dataset(self, name: str) -> Dataset:
        """Return the data set in the form that the benchmark's reader expects."""
        return Dataset(
            name,
            self.title or name,
            self.benchmark,
            self.files,
            self.licence,
            self.origin,
            f"It is your own data set: put its files there, or fix [own_datasets.{name}].",
            self.sums,
            own=True,
        )


class OwnDomain(StrictModel):
    """A user's domain: a benchmark with other parameters or data."""

    benchmark: str
    datasets: tuple[str, ...]
    title: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    profile: ProtocolProfile = Field(
        DEFAULT_PROFILE,
        description="The protocol profile, which sets what `parameters` leaves open (`memflow show deviations`).",
    )
    seed: int = 42
