"""`memflow export transcript`: the exported file and the error messages."""

import json
from pathlib import Path

import factories
import pytest

from memflow.benchmarks.registry import find_domain

EXPORT = ("export", "transcript", "amemgym_demo~1", "full")


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (
            ("amemgym_demo~1", "nemori"),
            "amemgym_demo~1 has no stored run of assistant 'nemori'. Use one of: awi, full",
        ),
        (
            ("amemgym_base", "full"),
            "amemgym_base has no stored run of assistant 'full'. There are none",
        ),
        (("nowhere", "full"), "there is no domain 'nowhere'"),
    ],
)
def test_export_rejects_assistant_or_domain_without_stored_transcript(
    measured, tmp_path: Path, arguments, wrong
) -> None:
    assert wrong in measured.error("export", "transcript", *arguments, str(tmp_path / "run.jsonl"))


def play(home, *reasons: str | None) -> None:
    """Write one session of `full` in amemgym_demo~1; each message has a reason or None."""
    [dataset] = find_domain("amemgym_demo").datasets
    record = factories.record(
        dataset=dataset, sha256="5" * 64, licence="Apache-2.0", origin="memflow", content="{}"
    )
    messages = [
        factories.transcript_message(
            domain="amemgym_demo~1", episode_id="ada", position=at, message_id=f"ada/0{f'+{at}' if at else ''}",
            role=("user", "assistant")[at % 2], text=f"Words {at}.", sequence=at, origin="given", reason=reason,
        )
        for at, reason in enumerate(reasons)
    ]  # fmt: skip
    meta = {"run": "r", "model": "large", "fingerprint": "f", "simulator": "s", "scripted": "no"}
    home.write("raw.records", dataset, [record])
    home.write("memory.transcripts", "amemgym_demo~1/full", messages, **meta)


def test_export_writes_valid_transcripts_and_overwrites_only_with_force(empty, tmp_path: Path) -> None:
    play(empty, None, None, None, "no answer")
    file = tmp_path / "run.jsonl"
    told = empty.json(*EXPORT, str(file))
    header, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert [line["text"] for line in lines] == ["Words 0.", "Words 1.", "Words 2."]
    assert {**told, "file": None} == {**header, "file": None}
    assert (header["model"], header["scripted"], header["cut"]) == ("large", False, ["ada/0"])
    assert [source["sha256"] for source in header["sources"]] == [["5" * 64]]
    assert "run.jsonl already exists. Overwrite it with --force" in empty.error(*EXPORT, str(file))
    forced = empty(*EXPORT, str(file), "--force")
    assert forced.exit_code == 0 and "3 messages of 1 episodes, 1 sessions cut short" in forced.stdout
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ""] == ["run.jsonl"]


def test_export_to_a_missing_folder_reports_the_file_name(empty, tmp_path: Path) -> None:
    play(empty, None)
    assert "run.jsonl (No such file or directory)" in empty.error(
        *EXPORT, str(tmp_path / "none" / "run.jsonl")
    )
