"""`memflow show headroom`: it searches the stored entries again on request, stores the result, and shows it."""

import re
import shutil

import factories
import pytest

from memflow.errors import BadInput
from memflow.pipeline import WRITERS
from memflow.records import ProbeRetrieval
from memflow.resources.data.library import Library
from memflow.resources.settings.settings import load
from memflow.resources.steps import StepRunner

DOMAIN = "amemgym_demo~1"


@pytest.fixture
def home(measured, empty):
    shutil.copytree(measured.folder, empty.folder)
    return empty


def test_headroom_is_measured_once_and_then_shown_from_the_lake(home):
    assert "Nothing is measured yet" in home("show", "headroom").stdout
    first = home("show", "headroom", DOMAIN, "full", "--format", "json")
    assert "Searching the entries of full" in first.stderr, first.output
    rows = home.lake.read("score.retrieval", f"{DOMAIN}/full")
    recall = {row.probe_id: row.recalled for row in home.lake.read("score.attributions", f"{DOMAIN}/full")}
    own = {row.probe_id: row.recalled for row in rows if row.ranking == "memory"}
    assert own and own == {probe: recall[probe] for probe in own}, "as the attribution counts"
    assert {row.ranking for row in rows} == {"memory", "hybrid", "vector", "text", "random"}
    assert all(row.recalled <= row.stored <= row.evidence for row in rows)
    again = home("show", "headroom", DOMAIN, "full", "--format", "json")
    assert (again.stdout, again.stderr) == (first.stdout, "")
    [found] = home.json("show", "headroom")
    assert found["statement"].startswith("Not measurable: with one episode")
    assert found["memory"] == found["vector"] == 1.0, "full recalls all that it stored"


def test_headroom_of_a_memory_without_export_has_a_reason_and_no_figure(home):
    reason = "the memory server declares no export"
    row = factories.row(ProbeRetrieval, domain=DOMAIN, assistant="hosted", ranking="memory", reason=reason)
    home.write("score.retrieval", f"{DOMAIN}/hosted", [row])
    shown = home("show", "headroom").stdout
    assert f"hosted: Not measurable: {reason}." in shown
    sheet = home("show", "headroom", "--format", "csv").stdout.splitlines()
    assert sheet[0].startswith("domain,assistant,probes") and len(sheet) == 2


def test_vectors_of_another_embedder_are_not_compared_with_those_of_the_queries(home):
    rows = home.lake.read("memory.indexes", f"{DOMAIN}/full")
    home.write("memory.indexes", f"{DOMAIN}/full", rows, embedder="bge-m3")
    message = "the entries of full in .* were embedded by bge-m3, and the embedder of the settings is hashing"
    assert re.search(message, home.error("show", "headroom", DOMAIN, "full").replace("\n", " "))
    settings = load(over={"home": home.folder})
    runner = StepRunner(
        settings, home.lake, Library(None), models=None
    )  # the UI has no command before the step
    with pytest.raises(BadInput, match=message):
        runner.run(WRITERS["score.retrieval"], "run", domain=settings.domain(DOMAIN), assistant="full")
    assert not home.lake.partitions("score.retrieval")


def test_headroom_of_an_unknown_name_lists_the_stored_ones(home):
    assert "no assistant with attributed failures 'ful'" in home.error("show", "headroom", DOMAIN, "ful")
    assert "no domain with attributed failures 'x'" in home.error("show", "headroom", "x")
