"""The fingerprint of memory classes that a notebook cell or the main program defines."""

import sys
from types import ModuleType
from typing import Any

import pytest

from memflow.errors import BadSettings
from memflow.memories.main_code import main_code
from memflow.memories.registry import fingerprint
from memflow.memories.retrieval import Lexical
from memflow.memories.user_memories import UserMemory

IMPORTS = """
import re
from collections import Counter
from dataclasses import dataclass
from memflow.memories.design import Design
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.search import Bm25
"""
HELPERS = """
WORD = re.compile("[a-z]+")
LANGUAGES = {"en", "de", "fr"}
LIMITS = {"user": 2}

def is_stored(message):
    return message.role in {"user", "tool"} and LANGUAGES and LIMITS and WORD.search(message.text) is not None
"""
SHELF = '''
@dataclass
class Shelf(Memory):
    """A shelf."""

    design = Design(roles=("user",))
    k: int = parameter(3, "How many.", low=1)

    def __post_init__(self):
        self.index = Bm25(self.store, "said")

    async def write(self, messages):
        for message in filter(lambda message: is_stored(message), messages):
            self.store.add("said", message.line(), sources=[message.message_id])

    async def read(self, query, frozen=True):
        try:
            return Recall(notes=str(self.index.search(query, self.k)))
        except ValueError:
            return Recall()
'''


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return an empty `__main__`, as that of a kernel: without a file."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def run_cells(notebook: ModuleType, *cells: str) -> str:
    """Run cells, and return the fingerprint of the memory that they define."""
    for number, cell in enumerate(cells):
        exec(compile(cell, f"/tmp/ipykernel/{number}.py", "exec"), vars(notebook))
    return fingerprint("mine", {"mine": UserMemory("__main__:Shelf")})


def test_unchanged_cell_has_the_same_fingerprint_wherever_it_stands(notebook: ModuleType) -> None:
    first = run_cells(notebook, IMPORTS, HELPERS, SHELF)
    assert run_cells(notebook, SHELF) == first
    assert run_cells(notebook, HELPERS, f"\n\n# Comments do not count.\n{SHELF}") == first
    vars(notebook)["index"] = object()  # the name of an attribute, not of a global that the class uses
    assert run_cells(notebook) == first


@pytest.mark.parametrize(
    ("cell", "changed"),
    [
        (SHELF, ("self.k)", "self.k + 1)")),
        (SHELF, ("parameter(3", "parameter(4")),
        (SHELF, ('("user",)', '("assistant",)')),
        (SHELF, ("except ValueError", "except KeyError")),
        (SHELF, ('"said", message', '"heard", message')),
        (HELPERS, ("[a-z]+", "[A-Z]+")),
        (HELPERS, (": 2", ": 3")),
        (HELPERS, ("is not None", "is None")),
    ],
)
def test_changed_cell_has_another_fingerprint(
    notebook: ModuleType, cell: str, changed: tuple[str, str]
) -> None:
    first = run_cells(notebook, IMPORTS, HELPERS, SHELF)
    assert cell.replace(*changed) != cell
    assert run_cells(notebook, cell.replace(*changed)) != first


def test_fingerprint_covers_a_base_class_of_another_cell(notebook: ModuleType) -> None:
    base = SHELF.replace("class Shelf", "class Base")
    child = "@dataclass\nclass Shelf(Base):\n    k: int = parameter(5, 'How many.')"
    first = run_cells(notebook, IMPORTS, HELPERS, base, child)
    assert run_cells(notebook, base.replace("self.k)", "9)"), child) != first


def test_fingerprint_covers_the_modules_of_memflow_that_a_cell_uses(notebook: ModuleType) -> None:
    run_cells(notebook, IMPORTS, HELPERS, SHELF)
    code = main_code(vars(notebook)["Shelf"])
    assert code is not None
    assert {"memflow.memories.search", "memflow.memories.memory"} <= code.modules
    assert main_code(Lexical) is None, "memflow's own code is fingerprinted by its files"


def test_memory_that_uses_an_object_without_a_fingerprint_is_refused(notebook: ModuleType) -> None:
    cells = (IMPORTS, HELPERS.replace('{"user": 2}', "iter(())"), SHELF)
    with pytest.raises(
        BadSettings, match=r"Shelf uses LIMITS, an object of type tuple_iterator, of which no"
    ):
        run_cells(notebook, *cells)


def test_fingerprint_does_not_depend_on_the_process(notebook: ModuleType) -> None:
    import os
    import subprocess

    script = (
        "from memflow.memories.registry import fingerprint\nfrom memflow.memories.user_memories import UserMemory\n"
        f"{IMPORTS}{HELPERS}{SHELF}\nprint(fingerprint('mine', {{'mine': UserMemory('__main__:Shelf')}}))"
    )

    def printed(seed: str) -> Any:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert printed("1") == printed("2") == run_cells(notebook, IMPORTS, HELPERS, SHELF)
