"""`memflow export bundle` and `memflow verify`: another home verifies a bundle, or states what differs."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.resources.report import licenses
from memflow.scoring.bundle_file import Manifest, read_bundle, write_bundle
from tests.memflow.cli.conftest import DOMAIN, Home, measure

JUDGED, FULL = "locomo_demo", "full"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with an assistant whose answers a scripted judge judged. No test writes to it."""
    return measure(tmp_path_factory.mktemp("judged"), JUDGED, [FULL])


@pytest.fixture
def copied(judged: Home, tmp_path: Path) -> Home:
    """Return a copy of that home, which a test changes."""
    return Home(Path(shutil.copytree(judged.folder, tmp_path / "copied")))


def export(home: Home, domain: str = JUDGED) -> Path:
    file = Path("bundle.zip")
    written = home("export", "bundle", domain, FULL, str(file), "--force")
    assert written.exit_code == 0, written.stderr
    return file


def verified(home: Home, file: Path, *options: str) -> tuple[int, Any]:
    """Return the exit code and the JSON of a verification."""
    ended = home("verify", str(file), *options, "--format", "json")
    assert ended.stdout, ended.stderr
    return ended.exit_code, json.loads(ended.stdout)


def changed(file: Path, change: Callable[[Any], dict[str, Any]]) -> Path:
    """Write the bundle again, with changed parts and right hashes."""
    bundle = read_bundle(file.read_bytes(), str(file))
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        verdicts = archive.read("verdicts.jsonl").decode()
    parts = {**vars(bundle), "verdicts": verdicts, **change(bundle)}
    names = ("manifest", "verdicts", "replies", "probes", "judge_replies")
    file.write_bytes(write_bundle(*(parts[name] for name in names)))
    return file


def hashed(monkeypatch: pytest.MonkeyPatch, home: Home) -> Path:
    """Export a bundle as if the license of the data set allowed no texts."""
    with monkeypatch.context() as patched:
        patched.setattr(licenses, "may_be_shared", lambda licence: False)
        return export(home)


@pytest.mark.parametrize("domain", [DOMAIN, JUDGED])
def test_another_home_verifies_a_bundle_without_a_request(
    measured: Home, judged: Home, empty: Home, domain: str
) -> None:
    home = {DOMAIN: measured, JUDGED: judged}[domain]
    code, result = verified(empty, export(home, domain))
    assert (code, result["state"], result["different"], result["notices"]) == (0, "verified", [], [])
    assert result["labels"][0] == "scripted, not a language model"
    assert all(row["stored"] == row["again"] is not None for row in result["metrics"])
    metrics = {row["metric"] for row in result["metrics"]}
    assert metrics >= {"accuracy"} if domain == DOMAIN else metrics >= {"j_2025", "locomo_f1"}
    assert not (empty.folder / "ledger.sqlite").exists()


def test_leaks_by_meaning_are_computed_again_with_the_embedder_of_the_settings(
    tmp_path: Path, empty: Home
) -> None:
    domain = "retraction_demo"
    home = measure(tmp_path / "home", domain, [FULL])
    code, result = verified(empty, export(home, domain))
    assert (code, result["different"]) == (0, [])
    assert "paraphrase" in {row["variant"] for row in result["metrics"]}


def test_manifest_states_judge_versions_settings_and_label_but_no_path(judged: Home) -> None:
    written = judged("export", "bundle", JUDGED, FULL, "b.zip").stdout
    assert "Label: scripted, not a language model" in written and "With the texts of locomo_sample" in written
    manifest = read_bundle(Path("b.zip").read_bytes(), "b.zip").manifest
    assert {"temperature": 0.0, "top_p": None, "max_tokens": 64, "seed": None} in manifest.judges["scripted"]
    [prompt] = [sections for name, sections in manifest.prompts.items() if name.startswith("locomo/j_2025@")]
    assert "$gold" in prompt[0][1]
    assert "numpy" in manifest.packages and manifest.settings["model"] == "scripted"
    assert str(judged.folder).encode() not in Path("b.zip").read_bytes()
    assert "b.zip already exists" in judged.error("export", "bundle", JUDGED, FULL, "b.zip")


def test_changed_byte_is_refused_with_its_member(judged: Home, empty: Home) -> None:
    file = export(judged)
    file.write_bytes(file.read_bytes().replace(b'"attempts": 1', b'"attempts": 2', 1))
    assert "bundle.zip is no unchanged bundle: replies.jsonl was changed. Get the file" in empty.error(
        "verify", str(file)
    )
    assert "cannot read none.zip (No such file" in empty.error("verify", "none.zip")


def test_changed_value_with_right_hashes_differs(judged: Home, empty: Home) -> None:
    def better(bundle: Any) -> dict[str, Any]:
        return {"replies": [replace(bundle.replies[0], parsed="tea", text="tea"), *bundle.replies[1:]]}

    file = changed(export(judged), better)
    probe = read_bundle(file.read_bytes(), "").replies[0].probe_id
    code, result = verified(empty, file)
    assert (code, result["state"]) == (3, "differs")
    assert {row["probe_id"] for row in result["different"]} == {probe}
    assert any(row["changed"] for row in result["metrics"])
    assert f"{probe}: j_2025" in empty("verify", str(file)).stdout


def test_bundle_without_texts_is_verified_with_the_data_of_the_verifier(
    judged: Home, empty: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hashed(monkeypatch, judged)
    content = file.read_text(encoding="latin-1")
    texts = [turn.text for turn in judged.lake.read("utterance.turns", JUDGED)]
    for probe in judged.lake.read("question.probes", JUDGED):
        texts += [probe.question, probe.revealed]
    assert len(texts) > 50 and not [text for text in texts if json.dumps(text)[1:-1] in content]
    assert verified(empty, file)[0] == 0
    assert not empty.folder.exists()


def test_missing_gold_is_a_notice_and_other_gold_an_error(
    judged: Home, empty: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hashed(monkeypatch, judged)
    probes = judged.lake.read("question.probes", JUDGED)
    empty.write("question.probes", JUDGED, [replace(probes[0], gold="other"), *probes[1:]])
    assert (
        f"1 of {len(probes)} probes of {JUDGED} are not those of the bundle (the first: {probes[0].probe_id})"
        in empty.error("verify", str(file))
    )
    missing = changed(file, lambda bundle: {"manifest": _with(bundle, name="own", datasets=("locomo10",))})
    code, result = verified(empty, missing)
    assert (code, result["state"], result["different"] != []) == (3, "not verified", True)
    [notice] = result["notices"]
    assert notice.startswith(
        "The gold is missing, so that nothing was computed again: own: none of its data sets"
    )


def _with(bundle: Any, **values: Any) -> Manifest:
    return bundle.manifest.model_copy(update={"domain": replace(bundle.manifest.domain, **values)})


def test_bundle_of_a_benchmark_that_is_not_installed_is_refused(judged: Home, empty: Home) -> None:
    file = changed(export(judged), lambda bundle: {"manifest": _with(bundle, benchmark="tea")})
    assert "there is no benchmark 'tea'" in empty.error("verify", str(file))


def test_another_judge_is_asked_and_its_verdicts_differ(judged: Home, empty: Home) -> None:
    Path("memflow.toml").write_text('[models.kind]\nkind = "scripted"\nmodel = "agreeable"\n')
    code, result = verified(empty, export(judged), "--judge", "kind")
    assert (code, result["state"]) == (3, "differs")
    rows = {row["metric"]: row for row in result["metrics"] if row["variant"] == "standard"}
    assert rows["j_2025"]["again"] == 1.0 > rows["j_2025"]["stored"] and rows["locomo_f1"]["changed"] == 0
    assert "judge" in empty("show", "usage").stdout


def test_faulty_memory_is_labeled_and_never_verified(copied: Home, empty: Home) -> None:
    rows = copied.lake.read("score.health", f"{JUDGED}/{FULL}")
    faulty = replace(rows[0], state="faulty", statement="12 of 12 reads were empty", affected=12, n=12)
    copied.write("score.health", f"{JUDGED}/{FULL}", [faulty, *rows[1:]])
    code, result = verified(empty, export(copied))
    assert (code, result["state"]) == (3, "not verified")
    assert any(label.startswith("faulty: 12 of 12 reads were empty") for label in result["labels"])
    assert "The memory is not measured: 12 of 12 reads were empty" in result["notices"]
    assert {row["again"] for row in result["metrics"]} == {None}


def test_verdicts_that_do_not_follow_from_the_answers_are_not_exported(copied: Home) -> None:
    for file in copied.folder.glob("ledger.sqlite*"):
        file.unlink()
    wrong = copied.error("export", "bundle", JUDGED, FULL, "b.zip")
    assert f"verdicts of {JUDGED}/full do not follow from its answers (the first:" in wrong
    assert f"Rerun `memflow run --domain {JUDGED}` with the options of its run" in wrong
    assert not Path("b.zip").exists()


def test_bundle_is_a_baseline_of_gate(judged: Home) -> None:
    ended = judged("gate", JUDGED, FULL, "--baseline", str(export(judged)))
    assert ended.exit_code in (0, 2) and "against bundle.zip" in ended.stdout
