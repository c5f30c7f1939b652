"""Judgments of imported answers by the judges of the settings, beside the recorded labels."""

from pathlib import Path

import pytest

from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.load import load_conversations, read_records
from memflow.benchmarks.locomo.probes import make_probes
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.benchmarks.verdicts import verdict_row
from memflow.benchmarks.views import ImportedResults
from memflow.chat.replacements import replace_prompts
from memflow.errors import BadInput
from memflow.records import Probe, Reply
from memflow.resources.data.library import Library
from memflow.resources.imported_judgments import judge_imported
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.settings import Settings, load

DOMAIN = find_domain("locomo_demo")


@pytest.fixture
def probes() -> list[Probe]:
    records = read_records(find_dataset("locomo_sample"), Library(None).paths("locomo_sample"))
    config = parse_config(DOMAIN)
    return [
        probe
        for name, talk in load_conversations(DOMAIN, records)
        for probe in make_probes(DOMAIN.name, name, talk, config)
    ]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return load(over={"home": tmp_path / "home"})


def results_of(probes: list[Probe]) -> ImportedResults:
    """Return recorded answers that equal the gold, all labeled as wrong; the first has no answer."""
    name = "imported_x@y"
    replies = [
        Reply(
            domain=DOMAIN.name,
            assistant=name,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=0,
            text=probe.gold,
            parsed=probe.gold,
            recalled=[],
            recalled_sources=[],
            reason="lost" if at == 0 else None,
        )
        for at, probe in enumerate(probes)
    ]
    labels = [verdict_row(DOMAIN, name, probe, "j_2025", 0.0, None) for probe in probes]
    words = [verdict_row(DOMAIN, name, probe, "set_f1", 0.5, None) for probe in probes]
    return ImportedResults(name, "y", "a file", {"form": "f"}, replies, [*labels, *words])


def test_judges_of_the_settings_judge_recorded_answers_and_labels_become_a_variant(
    settings: Settings, probes: list[Probe]
) -> None:
    judged = judge_imported(settings, DOMAIN, results_of(probes), probes)
    values = {(row.probe_id, row.metric, row.variant): row for row in judged.verdicts}
    assert len(values) == len(judged.verdicts), "each probe, metric and variant has one verdict"
    lost, answered = probes[0].probe_id, probes[1].probe_id
    assert values[answered, "j_strict", "standard"].value == 1.0
    assert values[answered, "j_2025", "standard"].value == 1.0
    assert values[answered, "j_2025", "recorded"].value == 0.0
    assert values[answered, "set_f1", "standard"].value == 1.0, "word metrics are computed from the answer"
    assert (answered, "set_f1", "recorded") not in values
    assert values[lost, "j_2025", "standard"].reason == "lost"
    assert judged.scripted and judged.settings == {"form": "f", "judges": ["scripted"]}
    assert judged.replaced_prompts == []


def test_second_import_sends_no_request_because_the_ledger_has_all(
    settings: Settings, probes: list[Probe]
) -> None:
    results = results_of(probes)

    def requests() -> set[str]:
        with SqlLedger(settings.ledger_url) as ledger:
            return ledger.digests()

    first = judge_imported(settings, DOMAIN, results, probes)
    before = requests()
    assert before, "the requests are in the ledger"
    assert judge_imported(settings, DOMAIN, results, probes).verdicts == first.verdicts
    assert requests() == before


def test_replaced_judge_prompt_is_named(settings: Settings, probes: list[Probe], tmp_path: Path) -> None:
    folder = tmp_path / "prompts" / "locomo"
    folder.mkdir(parents=True)
    import memflow.benchmarks.locomo as package

    text = (Path(package.__file__).parent / "prompts/j_2025.md").read_text(encoding="utf-8")
    (folder / "j_2025.md").write_text(
        text.replace("Label generously", "Label very generously"), encoding="utf-8"
    )
    changed = settings.model_copy(update={"prompts": tmp_path / "prompts"})
    try:
        judged = judge_imported(changed, DOMAIN, results_of(probes), probes)
    finally:
        replace_prompts({})
    (name,) = judged.replaced_prompts
    assert name.startswith("locomo/j_2025@")


def test_domain_without_a_judge_is_rejected_with_the_next_step(
    settings: Settings, probes: list[Probe]
) -> None:
    with pytest.raises(BadInput, match=r"no metric of comem_demo is decided by a judge.*without `--judge`"):
        judge_imported(settings, find_domain("comem_demo"), results_of(probes), probes)
