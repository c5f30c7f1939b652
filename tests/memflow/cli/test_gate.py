"""`memflow gate` and `memflow export verdicts`: exit codes, files, and what cannot be compared."""

import json
from pathlib import Path
from xml.etree import ElementTree

import factories
import numpy as np
import pytest

from memflow.fingerprint import digest
from tests.memflow.cli.conftest import Home

DOMAIN = "comem_demo"
EPISODES, PROBES = 24, 20
INPUTS = {"judge": "judge (1)", "data": "d1", "parameters": "p1", "memory": "full (1)", "code": "c1"}


def write(
    home: Home, assistant: str, values: np.ndarray, inputs: dict[str, str] | None = None, **meta: str
) -> None:
    """Write the verdicts of an assistant; NaN is a verdict without a value."""
    facts = home.lake.facts("question.probes", DOMAIN)
    assert facts is not None
    verdicts = [
        factories.verdict(
            domain=DOMAIN, assistant=assistant, probe_id=f"e{episode}/{at}", episode_id=f"e{episode}",
            metric="accuracy", value=None if np.isnan(value) else float(value),
            reason="no letter" if np.isnan(value) else None,
        )
        for episode, row in enumerate(values)
        for at, value in enumerate(row)
    ]  # fmt: skip
    stated = {
        "probes": facts.digest,
        "model": "m",
        "scripted": "no",
        "inputs": json.dumps(INPUTS | (inputs or {})),
    }
    home.write("score.verdicts", f"{DOMAIN}/{assistant}", verdicts, **stated | meta)


def write_probes(home: Home, **changes: str) -> None:
    probes = [
        factories.probe(
            domain=DOMAIN, probe_id=f"e{episode}/{at}", episode_id=f"e{episode}", metric="accuracy", checkpoint=1,
            options=["a", "b", "c"], category=str(1 + at % 2), **{"gold": "1", "question": "?", **changes},
        )
        for episode in range(EPISODES)
        for at in range(PROBES)
    ]  # fmt: skip
    home.write("question.probes", DOMAIN, probes)


def answers(loss: float = 0.0) -> np.ndarray:
    """Return values of 0 and 1. With a loss, that share is lost, and a further 2 % differ by chance."""
    old = np.random.default_rng(1).random((EPISODES, PROBES)) < 0.7
    rng = np.random.default_rng(2)
    changed = rng.random(old.shape) < 0.02
    lost = old & (rng.random(old.shape) < loss / 0.7)
    return np.where(lost, 0.0, np.where(changed, 1.0 - old, old)) if loss else old.astype(float)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with a baseline and runs of known losses. No test writes into its lake."""
    home = Home(tmp_path_factory.mktemp("gate"))
    write_probes(home)
    write(home, "full", answers())
    write(home, "recent", answers(0.15), {"memory": "recent (2)"})
    write(home, "bm25_message", answers(), {"memory": "bm25 (3)"})
    write(home, "none", np.full((EPISODES, PROBES), np.nan))
    write(home, "oracle", np.where(np.arange(PROBES) < 5, np.nan, answers()))
    return home


@pytest.fixture
def changing(tmp_path: Path) -> Home:
    """Return a home with a baseline, which a test changes."""
    home = Home(tmp_path / "home")
    write_probes(home)
    write(home, "full", answers())
    return home


def decided(home: Home, *arguments: str) -> dict[str, object]:
    """Return the JSON of a gate, whose exit code is that of the data."""
    ended = home("gate", DOMAIN, *arguments, "--format", "json")
    assert ended.stdout, ended.stderr
    data = json.loads(ended.stdout)
    assert ended.exit_code == data["exit_code"]
    return data


@pytest.fixture(scope="module")
def baseline(stored: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("baseline") / "baseline.jsonl"
    written = stored("export", "verdicts", DOMAIN, "full", str(file))
    assert written.exit_code == 0 and "480 verdicts on 480 probes in 24 episodes" in written.stdout
    return file


def test_exit_code_is_0_for_no_regression_1_for_a_regression_and_2_for_an_open_decision(stored: Home) -> None:
    assert stored("gate", DOMAIN, "full", "--baseline", "recent").exit_code == 0
    worse = stored("gate", DOMAIN, "recent", "--baseline", "full")
    assert worse.exit_code == 1
    assert worse.stdout.startswith("recent against full in comem_demo: regression")
    assert "Family over all probes: 1 metric, p adjusted by Holm's method." in worse.stdout
    assert "Differs: memory full (1) -> recent (2)." in worse.stdout
    assert stored("gate", DOMAIN, "bm25_message", "--baseline", "full").exit_code == 0
    assert stored("gate", DOMAIN, "bm25_message", "--baseline", "full", "--margin", "0.01").exit_code == 2


def test_file_gives_the_same_decisions_as_the_assistant_in_the_lake(stored: Home, baseline: Path) -> None:
    for assistant in ("recent", "bm25_message", "oracle"):
        by_file, by_lake = (
            decided(stored, assistant, "--baseline", name) for name in (str(baseline), "full")
        )
        assert by_file["decisions"] == by_lake["decisions"]
        assert by_file["exit_code"] == by_lake["exit_code"]


def test_moment_of_the_same_assistant_is_a_baseline(changing: Home) -> None:
    before = changing.lake.facts("score.verdicts", f"{DOMAIN}/full").written
    write(changing, "full", answers(0.15), {"memory": "full (2)"})
    assert changing("gate", DOMAIN, "full", "--baseline", f"={before}").exit_code == 1
    assert changing("gate", DOMAIN, "full", "--baseline", "full").exit_code == 0
    file = Path("before.jsonl")
    assert changing("export", "verdicts", DOMAIN, f"full={before}", str(file)).exit_code == 0
    assert changing("gate", DOMAIN, "full", "--baseline", str(file)).exit_code == 1


def test_junit_file_is_red_where_the_exit_code_is_not_0(stored: Home) -> None:
    counts = {}
    for assistant in ("full", "recent", "none"):
        ended = stored("gate", DOMAIN, assistant, "--baseline", "full", "--junit", "gate.xml")
        suite = ElementTree.parse("gate.xml").getroot()[0]
        cases = suite.findall("testcase")
        counts[ended.exit_code] = (int(suite.get("failures", "")), int(suite.get("errors", "")))
        assert int(suite.get("tests", "")) == len(cases)
        assert cases[0].get("name") == "comparable"
        assert {case.get("name") for case in cases} >= {"accuracy"}
    assert counts[0] == (0, 0)
    assert counts[1][0] > 0
    assert counts[2] == (0, 1)


def test_names_with_control_characters_and_markup_stay_data(stored: Home, tmp_path: Path) -> None:
    bad = 'a\x00\x1b[31m<b>&"\ufffe|.jsonl'.replace("\x00", "")
    file = tmp_path / bad
    stored("export", "verdicts", DOMAIN, "full", str(file))
    ended = stored("gate", DOMAIN, "recent", "--baseline", str(file), "--junit", "gate.xml")
    assert ended.exit_code == 1
    assert "\x1b" not in ended.stdout
    ElementTree.parse("gate.xml")


@pytest.mark.parametrize(
    ("inputs", "fault"),
    [
        ({"judge": "other (2)"}, "another setting: judge other (2) -> judge (1)"),
        ({"data": "d2"}, "another setting: data d2 -> d1"),
        ({"parameters": "p2"}, "another setting: parameters p2 -> p1"),
    ],
)
def test_baseline_of_other_settings_cannot_be_compared(
    changing: Home, inputs: dict[str, str], fault: str
) -> None:
    write(changing, "recent", answers(0.3), inputs)
    changing("export", "verdicts", DOMAIN, "recent", "other.jsonl")
    for name in ("recent", "other.jsonl"):
        data = decided(changing, "full", "--baseline", name)
        assert (data["exit_code"], data["faults"], data["decisions"]) == (2, [fault], [])


def test_baseline_of_other_probes_cannot_be_compared(changing: Home, baseline: Path) -> None:
    before = changing.lake.facts("score.verdicts", f"{DOMAIN}/full").written
    write_probes(changing, gold="2")
    write(changing, "full", answers())
    [fault] = decided(changing, "full", "--baseline", str(baseline))["faults"]
    assert fault == "other probes: the questions, options or gold differ from those of the baseline"
    [fault] = decided(changing, "full", "--baseline", f"={before}")["faults"]
    assert fault == "other probes: 480 have another question, options or gold"


def test_baseline_of_another_domain_or_without_common_probes_cannot_be_compared(
    changing: Home, baseline: Path
) -> None:
    header, *lines = baseline.read_text().splitlines()
    other = header.replace('"domain": "comem_demo"', '"domain": "comem_mine"')
    Path("other.jsonl").write_text("\n".join([other, *lines]))
    [fault] = decided(changing, "full", "--baseline", "other.jsonl")["faults"]
    assert fault == "the baseline is of the domain comem_mine, the run of comem_demo"
    none = {**json.loads(header), "verdicts": 0, "digest": digest([])}
    Path("none.jsonl").write_text(json.dumps(none))
    [fault] = decided(changing, "full", "--baseline", "none.jsonl")["faults"]
    assert fault == "the run and the baseline have no probe in common"


def test_verdicts_without_values_cannot_be_decided(changing: Home, stored: Home) -> None:
    data = decided(stored, "none", "--baseline", "full")
    assert data["exit_code"] == 2
    assert data["decisions"][0]["reason"] == "no probe has a value for both"
    write(changing, "none", np.full((EPISODES, PROBES), np.nan))
    both = decided(changing, "none", "--baseline", "none")
    assert both["faults"] == ["no verdict has a value; no letter (480)"]
    some = decided(stored, "oracle", "--baseline", "full")  # no regression of the others alone
    assert some["exit_code"] == 2
    assert "probes have a value for only one of the two" in some["decisions"][0]["reason"]


def test_faulty_memory_cannot_be_decided_and_a_suspect_one_is_named(changing: Home) -> None:
    def health(assistant: str, state: str) -> None:
        row = factories.health_measure(
            domain=DOMAIN, assistant=assistant, state=state, statement="96 of 96 reads were empty"
        )
        changing.write("score.health", f"{DOMAIN}/{assistant}", [row])

    write(changing, "recent", answers())
    health("recent", "faulty")
    changing("export", "verdicts", DOMAIN, "recent", "faulty.jsonl")
    for pair, fault in (
        (("recent", "full"), "the run (recent) is not measured: 96 of 96 reads were empty"),
        (("full", "recent"), "the baseline (recent) is not measured: 96 of 96 reads were empty"),
        (("full", "faulty.jsonl"), "the baseline (recent) is not measured: 96 of 96 reads were empty"),
    ):
        data = decided(changing, pair[0], "--baseline", pair[1])
        assert (data["exit_code"], data["faults"]) == (2, [fault])
    health("full", "suspect")
    data = decided(changing, "full", "--baseline", "full")
    assert data["exit_code"] == 0
    assert "The run (full) is suspect: 96 of 96 reads were empty" in data["notices"]


def test_damaged_baseline_file_is_misuse(stored: Home, baseline: Path) -> None:
    changed = baseline.read_bytes().replace(b'"value": 1.0', b'"value": 0.0', 1)
    for content, message in ((changed, "do not match the content hash"), (b"\xff", "is no text in UTF-8")):
        Path("damaged.jsonl").write_bytes(content)
        ended = stored("gate", DOMAIN, "full", "--baseline", "damaged.jsonl")
        assert (ended.exit_code, message in ended.stderr) == (3, True), ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([DOMAIN, "full"], "Missing option '--baseline'"),
        ([DOMAIN, "full", "--baseline", "full", "--bogus"], "No such option"),
        ([DOMAIN, "full", "--baseline", "fulll"], "Did you mean full"),
        ([DOMAIN, "ful", "--baseline", "full"], "Did you mean full"),
        (["comem_dem", "full", "--baseline", "full"], "Did you mean comem_demo"),
        ([DOMAIN, "full", "--baseline", "missing.jsonl"], "cannot read the baseline missing.jsonl"),
        ([DOMAIN, "full", "--baseline", "=2020-01-01"], "has no verdicts of full at 2020-01-01"),
        ([DOMAIN, "full", "--baseline", "full", "--metric", "accurac"], "Did you mean accuracy"),
        ([DOMAIN, "full", "--baseline", "full", "--slice", "categorie 1"], "Did you mean"),
        ([DOMAIN, "full", "--baseline", "full", "--margin", "0"], "is no share"),
        ([DOMAIN, "full", "--baseline", "full", "--margin", "three"], "Invalid value for '--margin'"),
        ([DOMAIN, "full", "--baseline", "full", "--junit", "no/such/folder.xml"], "cannot write"),
    ],
)
def test_misuse_has_its_own_exit_code(stored: Home, arguments: list[str], message: str) -> None:
    ended = stored("gate", *arguments)
    assert ended.exit_code == 3
    assert message in ended.stderr


def test_wrong_global_option_and_unexpected_error_are_misuse(
    stored: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stored("--bogus", "gate", DOMAIN, "full", "--baseline", "full").exit_code == 3

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("memflow.operations.gate_operands.gate", broken)
    ended = stored("gate", DOMAIN, "full", "--baseline", "full")
    assert ended.exit_code == 3
    assert "ZeroDivisionError" in ended.stderr


def test_export_of_verdicts_refuses_unknown_names_and_an_existing_file(stored: Home, baseline: Path) -> None:
    assert "already exists" in stored.error("export", "verdicts", DOMAIN, "full", str(baseline))
    assert "Did you mean full" in stored.error("export", "verdicts", DOMAIN, "ful", "x.jsonl")
