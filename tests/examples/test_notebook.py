"""The notebook of examples/notebook in a Jupyter kernel: its outputs are the stored ones, and changed cells count.

`jupyter execute --inplace examples/notebook/memory_in_a_cell.ipynb` stores its outputs again. The kernel is that of
this environment.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FILE = Path(__file__).parents[2] / "examples" / "notebook" / "memory_in_a_cell.ipynb"
ADDED = '''
from pathlib import Path

def evaluate():
    """Evaluate again. Return the memories whose transcripts were written."""
    folder = Path("results/lake/memory/transcripts")
    before = {path.stem: path.stat().st_mtime_ns for path in folder.glob("*")}
    memflow.evaluate([UserBm25, "full"], "comem_demo", baselines=False, home="results", progress=False)
    after = {path.stem: path.stat().st_mtime_ns for path in folder.glob("*")}
    return [name.partition(",")[2] for name in after if after[name] != before.get(name)]

assert evaluate() == [], "nothing has changed"
'''
UNCHANGED = 'assert evaluate() == [], "the class of a cell that ran again is the same"'
CHANGED = """
def is_stored(message):
    return message.role == "assistant"

assert evaluate() == ["user_bm25"], "a function that the class uses is another"
"""
REFUSED = """
STREAM = iter(())

def is_stored(message):
    return STREAM

try:
    evaluate()
except memflow.errors.BadSettings as error:
    assert "the memory UserBm25 uses STREAM, an object of type tuple_iterator" in str(error)
"""


@pytest.mark.pipeline
def test_notebook_gives_the_stored_outputs_and_changed_cells_are_evaluated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(FILE, as_version=4)
    stored = [_shown(cell) for cell in notebook.cells]
    [definition] = [cell.source for cell in notebook.cells if "class UserBm25" in cell.source]
    number = len(notebook.cells)
    for source in (ADDED, definition + "\n\n" + UNCHANGED, CHANGED, REFUSED):
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert [_shown(cell) for cell in notebook.cells[:number]] == stored
    assert any("image/png" in output.get("data", {}) for output in notebook.cells[number - 1].outputs)
    page = stored[3]
    assert "user_bm25_k_1" in page and "<table" in page and "scripted, not a language model" in page


def _shown(cell: Any) -> str:
    """Return the texts and tables that a cell shows, without what changes: colors, styles and numbers of cells."""
    data = [output.get("data", {}) for output in cell.get("outputs", ())]
    texts = [part["text/html"] for part in data if "text/html" in part]
    return re.sub(r"<style.*?</style>", "", "\n".join(texts), flags=re.DOTALL)
