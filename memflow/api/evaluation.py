"""`memflow.evaluate`: what `memflow run` does, in this process, with memories that may be classes of a notebook."""

import gc
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from memflow.api.arguments import (
    AnyMemory,
    AnyPath,
    as_list,
    as_path,
    explained_os_errors,
    named_domains,
    operand_name,
    own_tables,
    served_model,
)
from memflow.api.results import Results, results_of
from memflow.benchmarks.domain_names import MAX_LIMIT
from memflow.errors import BadSettings, EvaluationFailed
from memflow.operations.front import Front
from memflow.operations.import_paths import is_address

if TYPE_CHECKING:
    import pandas as pd


def evaluate(
    memory: AnyMemory | Sequence[AnyMemory],
    benchmark: str | Sequence[str],
    *,
    model: str | None = None,
    url: str | None = None,
    limit: int = 0,
    repeats: int = 1,
    baselines: bool = True,
    embedder: str | None = None,
    embedder_url: str | None = None,
    embedder_preset: str | None = None,
    home: AnyPath | None = None,
    settings: AnyPath | None = None,
    parallel: int = 0,
    force: bool = False,
    progress: bool = True,
    retrieval_only: bool = False,
) -> "Results[pd.DataFrame]":
    """Evaluate memories on benchmarks, as `memflow run` does, and return the results.

    Results that are up to date are not computed again, and an answered request is never sent twice. A class of a
    notebook cell is evaluated again if its code changed, or the functions and values of other cells that it uses.
    Everything that is no argument is a setting of memflow.toml.

    Args:
        memory: A memory's name, the import path of a class, the address of a memory server, a subclass of `Memory`,
            or an instance of one with other parameters; or a list of them.
        benchmark: A domain such as `amemgym_demo`, or a benchmark, which stands for its domains; or a list of them.
        model: The model of every role: a name in memflow.toml, `scripted` (which is not a language model), or the
            OpenAI-compatible address of a server with one model. By default, the roles of memflow.toml.
        url: The address of a server at which `model` is the name of a model.
        limit: Take a sample of this many users, episodes or questions of each domain; 0 takes all.
        repeats: How often each assistant is evaluated, to measure noise.
        baselines: Whether the baselines none, oracle and, where answers change, previous are added.
        embedder: The embedder of memories that retrieve by embeddings: a model at `embedder_url`, a folder of
            sentence-transformers weights, or `hashing`.
        embedder_url: The address of the embedder.
        embedder_preset: How the embedder's family tells queries from passages, such as `e5`.
        home: The folder of the results; by default that of memflow.toml, or .memflow.
        settings: The settings file; by default ./memflow.toml, if there is one.
        parallel: How many partitions run at once; 0 chooses by the models' concurrency.
        force: Whether partitions that are up to date are run again, with answers from the ledger.
        progress: Whether a progress bar is shown.
        retrieval_only: Whether only retrieval is measured, without a chat model: `Results.retrieval` has it.

    Returns:
        The results of these memories and their baselines, with tables as pandas data frames.

    Raises:
        BadInput: If an argument or the settings are invalid, or data are missing.
        EvaluationFailed: If runs failed. Its `results` has the results of the others.
        MemflowError: If a model or a store cannot be used.

    Example:
        >>> results = memflow.evaluate("bm25_message", "locomo_demo", home="results")
        >>> results.leaderboard(metric="f1")
    """
    from memflow.api.progress import progress_watcher
    from memflow.operations.pipeline import Silent
    from memflow.operations.run import AFTER_FAILURE, run_selection
    from memflow.operations.selection import select

    memories: list[AnyMemory] = as_list(memory)
    front = Front(as_path(settings), as_path(home), memories=own_tables(memories))
    configured = front.load()
    if not (0 <= limit <= MAX_LIMIT and 1 <= repeats <= 1000):
        raise BadSettings(
            f"limit is from 0 to {MAX_LIMIT:,}, and repeats from 1 to 1,000. Set them within these limits."
        )
    if model is not None and is_address(model):
        url, model = model, served_model(model)
    domains = named_domains(configured, benchmark)
    try:
        with explained_os_errors(configured.home):
            selection = select(
                front,
                domains=domains,
                memories=[operand_name(each) for each in memories],
                limit=limit,
                repeats=repeats,
                baselines=baselines,
                url=url,
                model=model,
                embedder=embedder,
                embedder_url=embedder_url,
                embedder_preset=embedder_preset,
                retrieval_only=retrieval_only,
            )
            with progress_watcher() if progress else nullcontext(Silent()) as watcher:
                selection, outcome = run_selection(selection, watcher, parallel=parallel, force=force)
    finally:
        gc.unfreeze()  # a run freezes all objects, also those of the caller
    retrieving = (name for _, name in selection.retrieval_only)
    results = results_of(selection.settings, selection.domains, (*selection.assistants, *retrieving))
    if not outcome.failed:
        return results
    failed = [f"{run.name}: {reason}" for run, reason in outcome.failed]
    skipped = [f"{len(outcome.skipped)} skipped, because their inputs failed"] * bool(outcome.skipped)
    raise EvaluationFailed(
        "\n".join([f"{len(failed)} runs failed. {AFTER_FAILURE}", *failed, *skipped]), results
    )
