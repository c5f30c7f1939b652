"""The export of a report: its values, what it leaves out, and what it writes again."""

import io
import json
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import pyarrow.parquet as pq
import pytest
from factories import health_measure, row
from report_home import ASSISTANTS, DOMAIN, EPISODES, FORGOTTEN, MALICIOUS, SURROGATE, ReportHome, read_data

from memflow.errors import BadInput
from memflow.records import Comparison, ProbeRetrieval, Score
from memflow.resources.files import local_files
from memflow.resources.lake.past import PastLake
from memflow.resources.report import folder as report_folder
from memflow.resources.report.names import data_name
from memflow.resources.report.redaction import LEFT_OUT
from memflow.resources.report.schema import PROBES
from memflow.resources.report.verdicts import SCHEMA
from memflow.scoring.health.states import example_text
from memflow.scoring.published_health import AssistantHealth, with_health


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def results(folder: Path, assistant: str = "full") -> dict[str, Any]:
    return read_data(folder, data_name("results", DOMAIN, assistant, "0"))


def test_scores_have_all_columns_and_the_values_of_the_leaderboard(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    board = read_data(tmp_path / "report", "scores")
    assert board["columns"] == [each.name for each in fields(Score)]
    found = [dict(zip(board["columns"], row, strict=True)) for row in board["rows"]]
    stored = home.lake.read("score.leaderboard", "all")
    assert [(row["assistant"], row["value"], row["n"]) for row in found] == [
        (score.assistant, score.value, score.n) for score in stored
    ]


def test_tables_without_rows_have_their_columns(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    table = read_data(tmp_path / "report", "comparisons")
    assert table == {"columns": [each.name for each in fields(Comparison)], "rows": []}


def test_site_names_faulty_and_suspect_assistants_and_the_health_file_has_all_measures(
    home: ReportHome, tmp_path: Path
) -> None:
    key = {"domain": DOMAIN, "measure": "empty_reads"}
    measures = [
        health_measure(**key, assistant="none", state="ok"),
        health_measure(
            **key, assistant="full", state="faulty", statement=f"it reads {tmp_path}/x", examples=["A/q"]
        ),
    ]
    for each in measures:
        home.write("score.health", [each], each.assistant)
    home.export(tmp_path / "report")
    [domain] = read_data(tmp_path / "report", "site")["domains"]
    assert domain["health"].keys() == {"full"}
    alarm = domain["health"]["full"]
    assert alarm["state"] == "faulty" and str(tmp_path) not in alarm["statement"]
    table = read_data(tmp_path / "report", "health")
    found = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert [(row["assistant"], row["state"], row["examples"]) for row in found] == [
        ("full", "faulty", ["A/q"]),
        ("none", "ok", []),
    ]
    assert str(tmp_path) not in json.dumps(found)


def test_headroom_file_has_the_measured_assistants_that_the_report_shows(
    home: ReportHome, tmp_path: Path
) -> None:
    rows = [row(ProbeRetrieval, domain=DOMAIN, assistant="full", ranking="memory", reason="no export")]
    home.write("score.retrieval", rows, "full")
    home.export(tmp_path / "report")
    found = read_data(tmp_path / "report", "headroom")
    assert [each["assistant"] for each in found["rows"]] == ["full"]
    assert found["rows"][0]["statement"] == "Not measurable: no export."
    home.export(tmp_path / "other", assistants=["none"])
    assert read_data(tmp_path / "other", "headroom")["rows"] == []


def test_report_without_texts_states_health_without_the_messages_of_errors(
    home: ReportHome, tmp_path: Path
) -> None:
    statement = f"9 of 9 writes failed{example_text(['alert(1) is not JSON'])}"
    row = health_measure(domain=DOMAIN, assistant="full", state="faulty", statement=statement)
    home.write("score.health", [row], "full")
    score = home.lake.read("score.leaderboard", "all")[1]
    [withheld] = with_health([score], {"full": AssistantHealth("faulty", statement)})
    home.lake.write("score.leaderboard", "all", [withheld], fingerprint="test")
    home.export(tmp_path / "report", texts=False)
    shown = [read_data(tmp_path / "report", name) for name in ("site", "health", "scores")]
    assert all("9 of 9 writes failed" in json.dumps(each) for each in shown)
    assert not any("alert(1)" in json.dumps(each) for each in shown)


def test_probes_have_the_declared_columns_and_texts_unchanged(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    table = read_data(tmp_path / "report", data_name("probes", DOMAIN))
    assert table["columns"] == [*PROBES.titles, "slices"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert [row["episode"] for row in rows] == [*EPISODES]
    assert {row["question"] for row in rows} == {MALICIOUS}
    site = read_data(tmp_path / "report", "site")["domains"][0]
    assert all(site["slices"][number] for row in rows for number in row["slices"])


def test_verdicts_have_failure_and_cut_of_their_probe(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    content = read_data(tmp_path / "report", data_name("verdicts", DOMAIN))
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.names == SCHEMA.names
    assert not any(
        column.nullable for column in table.schema
    )  # the page reads nullable columns four times slower
    assert table.schema.field("checkpoint").type == "int32"  # 64-bit integers are no numbers in JavaScript
    rows = {(row["assistant"], row["probe"]): row for row in table.to_pylist()}
    assert len(rows) == len(ASSISTANTS) * len(EPISODES)
    assert (rows["full", "a/q"]["value"], rows["none", "a/q"]["value"]) == (1.0, 0.0)
    assert (rows["full", "a/q"]["failure"], rows["full", "A/q"]["failure"]) == ("read", "")
    assert (rows["full", "a/q"]["cut"], rows["full", "A/q"]["cut"]) == (True, False)


def test_results_have_the_prompt_as_sent_and_a_reason_where_it_is_missing(
    home: ReportHome, tmp_path: Path
) -> None:
    home.export(tmp_path / "report")
    found = results(tmp_path / "report")
    replies = {name: found["episodes"][name]["replies"][f"{name}/q"] for name in EPISODES}
    [[role, number], [_, long]] = replies["a"]["prompt"]
    assert (role, found["contents"][number]) == ("user", SURROGATE)
    head, omitted, tail = found["contents"][long]
    assert len(head) + omitted + len(tail) == 50_000
    assert replies["a"]["thoughts_tokens"] == 2 and replies["a"]["text"] == MALICIOUS
    reasons = [replies[name]["prompt_reason"] for name in EPISODES]
    assert reasons == [None, "not in this ledger", "no request was sent"]
    assert FORGOTTEN not in json.dumps(found)
    [verdict] = found["episodes"]["a"]["verdicts"]["a/q"]
    assert verdict["judge_reply"] == "because " + MALICIOUS and verdict["value"] == 1.0


def test_results_have_messages_entries_and_the_sequence_of_each_checkpoint(
    home: ReportHome, tmp_path: Path
) -> None:
    home.export(tmp_path / "report")
    episode = results(tmp_path / "report")["episodes"]["a"]
    assert [each["text"] for each in episode["messages"]] == [MALICIOUS]
    [entry] = episode["entries"]
    assert (entry["text"], entry["since"]) == (MALICIOUS, 1) and "vector" not in entry
    assert episode["checkpoints"] == {"0": 1} and episode["replies"]["a/q"]["sequence"] == 1
    assert [claim["value"] for claim in episode["claims"]] == [1.0]


def test_episodes_have_states_with_their_changes(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    episode = read_data(tmp_path / "report", data_name("episodes", DOMAIN, "0"))["a"]
    [state] = episode["states"]
    assert state["choices"] == [MALICIOUS, "b"]
    assert [(each["checkpoint"], each["value"]) for each in state["changes"]] == [(0, "b")]
    assert episode["turns"][0]["exposes"] == {"diet": "b"}


def test_site_names_every_data_file(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    site = read_data(tmp_path / "report", "site")
    stored = {name for name in files(tmp_path / "report") if name.startswith("data/")}
    assert {f"data/{name}.js" for name in [*site["files"], "site"]} == stored
    assert site["scripted"] and site["texts"]
    assert [each["name"] for each in site["domains"]] == [DOMAIN]
    assert [each["name"] for each in site["assistants"]] == ["none", "full"]


def test_site_labels_as_scripted_only_what_a_scripted_chat_contributed_to(
    home: ReportHome, tmp_path: Path
) -> None:
    home.write_verdicts("full", 1.0, scripted="no")
    home.export(tmp_path / "report")
    site = read_data(tmp_path / "report", "site")
    assert not site["scripted"] and [each["scripted"] for each in site["domains"]] == [["none"]]
    assert {each["name"]: each["scripted"] for each in site["assistants"]} == {"none": True, "full": False}


def test_model_of_the_command_line_has_its_own_name(home: ReportHome, tmp_path: Path) -> None:
    inputs = json.dumps({"answering model": "gpt-4o-mini (1a2b3c4d)"})
    made_up = "full@cli_gpt_4o_mini"
    for table in ("memory.transcripts", "memory.indexes", "answer.replies"):
        home.write(table, [], made_up)
    home.write_verdicts(made_up, 1.0, model="cli_gpt_4o_mini", inputs=inputs, judges="large")
    home.export(tmp_path / "report")
    site = read_data(tmp_path / "report", "site")
    (domain,) = site["domains"]
    assert site["models"] == {"cli_gpt_4o_mini": "gpt-4o-mini"}
    assert "full@gpt-4o-mini" in domain["assistants"] and domain["judges"] == ["large"]
    assert [row["model"] for row in site["assistants"] if row["name"] == "full@gpt-4o-mini"] == [
        "gpt-4o-mini"
    ]
    assert read_data(tmp_path / "report", data_name("results", domain["name"], "full@gpt-4o-mini", "0"))


def test_report_of_one_assistant_has_no_file_of_another(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report", assistants=("full",))
    site = read_data(tmp_path / "report", "site")
    assert not [name for name in site["files"] if "/none" in name]
    assert {row[1] for row in read_data(tmp_path / "report", "scores")["rows"]} == {"full"}


def test_unknown_assistant_is_rejected_with_similar_names(home: ReportHome, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'ful'.*Did you mean full"):
        home.export(tmp_path / "report", assistants=("ful",))


def test_report_has_no_path_address_or_key_of_the_machine(
    home: ReportHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "key-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    reply = home.lake.read("answer.replies", f"{DOMAIN}/none")[1]
    home.write("answer.replies", [type(reply)(**{**_values(reply), "reason": f"refused: {key}"})], "none")
    home.export(tmp_path / "report")
    texts = [json.dumps(_decoded(tmp_path / "report", name)) for name in _names(tmp_path / "report")]
    for secret in (key, str(tmp_path), str(Path.home()), "10.0.0.7", "/v1", "weights/"):
        assert not [text for text in texts if secret in text], secret
    assert any("<address>" in text for text in texts) and any("<key>" in text for text in texts)


def test_report_without_texts_has_no_text_of_the_data(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")  # the texts of an earlier report are replaced
    home.export(tmp_path / "report", texts=False)
    texts = [json.dumps(_decoded(tmp_path / "report", name)) for name in _names(tmp_path / "report")]
    assert not [text for text in texts if "alert(1)" in text or "half of a pair" in text]
    reply = results(tmp_path / "report")["episodes"]["A"]["replies"]["A/q"]
    assert (reply["text"], reply["prompt"], reply["reason"]) == (None, None, LEFT_OUT)
    assert read_data(tmp_path / "report", "site")["texts"] is False


def test_second_export_without_changes_writes_nothing(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    before = files(tmp_path / "report")
    again = home.export(tmp_path / "report")
    assert again.written == [] and again.removed == [] and files(tmp_path / "report") == before


def test_changed_verdicts_rewrite_only_the_files_that_show_them(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    home.write_verdicts("none", 0.5)
    again = home.export(tmp_path / "report")
    expected = {data_name("verdicts", DOMAIN), data_name("results", DOMAIN, "none", "0"), "runs", "site"}
    assert set(again.written) == expected


def test_files_of_a_removed_assistant_are_deleted(home: ReportHome, tmp_path: Path) -> None:
    home.export(tmp_path / "report")
    again = home.export(tmp_path / "report", assistants=("full",))
    assert again.removed == [data_name("results", DOMAIN, "none", "0")]
    assert not (tmp_path / "report/data/results" / Path(data_name("", DOMAIN, "none")[1:])).exists()


@pytest.mark.parametrize("writes", range(8))
def test_report_is_usable_after_an_interrupted_export_and_complete_after_the_next(
    home: ReportHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    home.export(tmp_path / "report")
    for assistant in ASSISTANTS:
        home.write_verdicts(assistant, 0.5)
    home.write("state.entities", [], changed="yes")
    remaining = [writes]

    def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> Any:
        if not remaining[0]:
            (path.parent / f".{path.stem}.0.writing").write_bytes(b"half")  # what a killed process leaves
            raise KeyboardInterrupt
        remaining[0] -= 1
        return local_files.replace_file(path, write)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(report_folder, "replace_file", replace_file)
        home.export(tmp_path / "report")
    for name in ["site", *read_data(tmp_path / "report", "site")["files"]]:
        read_data(tmp_path / "report", name)
    home.export(tmp_path / "report")
    home.export(tmp_path / "other")
    ours, other = files(tmp_path / "report"), files(tmp_path / "other")
    manifests = [json.loads(each.pop("manifest.json"))["files"] for each in (ours, other)]
    assert manifests[0] == manifests[1]
    assert {name: text for name, text in ours.items() if name != "data/site.js"} == {
        name: text for name, text in other.items() if name != "data/site.js"
    }


def test_folder_with_other_files_is_rejected(home: ReportHome, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="is no report"):
        home.export(tmp_path / "mine")
    assert files(tmp_path / "mine") == {"notes.txt": b"mine"}


def test_report_as_of_a_moment_has_the_verdicts_of_that_moment(home: ReportHome, tmp_path: Path) -> None:
    moment = datetime.now(UTC)
    home.write_verdicts("full", 0.25)
    home.export(tmp_path / "report", lake=PastLake(home.lake, moment), as_of=moment)
    [verdict] = results(tmp_path / "report")["episodes"]["a"]["verdicts"]["a/q"]
    assert verdict["value"] == 1.0
    assert read_data(tmp_path / "report", "site")["as_of"] == moment.isoformat(timespec="seconds")


def _values(row: Any) -> dict[str, Any]:
    return {each.name: getattr(row, each.name) for each in fields(row)}


def _names(folder: Path) -> list[str]:
    return ["site", *read_data(folder, "site")["files"]]


def _decoded(folder: Path, name: str) -> Any:
    content = read_data(folder, name)
    return pq.read_table(io.BytesIO(content)).to_pylist() if isinstance(content, bytes) else content
