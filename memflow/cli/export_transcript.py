"""`memflow export transcript`: write the dialogues of a domain and assistant to a file.

The file is used for off-policy evaluation of other memories. memflow/run/recording.py defines its format; this module
collects the content from the lake.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, write
from memflow.cli.stored_names import check_played

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.resources.lake.lake import Lake
    from memflow.run.recording import RecordedRun, Source

PLAYED = "memory.transcripts"


def transcript(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain that was played.")],
    assistant: Annotated[
        str, typer.Argument(metavar="ASSISTANT", help="The assistant that it was played with.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, such as run.jsonl.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Write the dialogues of a run to a file, which is a data set for the off-policy evaluation of other memories.

    One message per line, after a header with the speakers, the models and the source data.
    """
    from memflow.resources.lake.lake import Lake
    from memflow.run.recording import read, recording_text

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    made = _made(lake, settings.domain(domain), assistant)
    text = recording_text(made, lake.read(PLAYED, f"{domain}/{assistant}"))
    write(file, text, force)
    header, _ = read(text)
    data: dict[str, Any] = {"file": str(file), **header.model_dump()}
    cut = f", {len(header.cut)} sessions cut short" if header.cut else ""
    answer(
        form,
        data,
        note(
            f"{header.messages:,} messages of {header.episodes:,} episodes{cut}, by {assistant} in {domain} "
            f"(model {header.model}), in {file}"
        ),
        note(
            "To give them to other memories: a domain with the same users and this file as data sets, and "
            'policy = "off" (docs/how-to/results.md)'
        ),
    )


def _made(lake: "Lake", domain: "Domain", assistant: str) -> "RecordedRun":
    """Return the models and data sets that a stored transcript was generated with.

    Raises BadInput if the transcript is not stored; the message lists the stored ones.
    """
    from memflow.run.recording import SCRIPTED, RecordedRun

    partition = f"{domain.name}/{assistant}"
    check_played(lake, domain.name, assistant)
    facts = lake.facts(PLAYED, partition)
    assert facts is not None
    return RecordedRun(
        benchmark=domain.benchmark,
        domain=domain.name,
        assistant=assistant,
        model=facts.meta["model"],
        fingerprint=facts.meta["fingerprint"],
        simulator=facts.meta["simulator"],
        scripted=facts.meta[SCRIPTED] == "yes",
        run=facts.meta["run"],
        sources=[
            _source(lake, name) for name in domain.datasets if lake.facts("raw.records", name) is not None
        ],
    )


def _source(lake: "Lake", dataset: str) -> "Source":
    from memflow.run.recording import Source

    records = lake.read("raw.records", dataset)
    first = records[0]
    sums = list(dict.fromkeys(record.sha256 for record in records))
    return Source(dataset=dataset, sha256=sums, licence=first.licence, origin=first.origin)
