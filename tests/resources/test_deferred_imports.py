"""Deferred imports: a module is imported when it is first used, and imports outside of the context do not change."""

import sys
from pathlib import Path

import pytest

from memflow.resources.deferred_imports import deferred_imports


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module with the attribute `value`, which is not imported yet."""
    name = "rarely_used"
    (tmp_path / f"{name}.py").write_text("value = 7\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_deferred_module_is_imported_when_an_attribute_is_first_read(module: str) -> None:
    with deferred_imports(module):
        substitute = __import__(module)
    assert module not in sys.modules
    assert substitute.value == 7
    assert sys.modules[module].value == 7


def test_reading_an_attribute_inside_the_context_imports_the_module(module: str) -> None:
    with deferred_imports(module):
        assert __import__(module).value == 7
        imported = sys.modules[module]
    assert sys.modules[module] is imported
    assert imported.__file__


def test_reading_dunder_file_does_not_import_a_deferred_module(module: str) -> None:
    with deferred_imports(module):
        substitute = __import__(module)
    assert not hasattr(substitute, "__file__")
    assert module not in sys.modules


def test_deferred_imports_does_not_replace_an_imported_module() -> None:
    with deferred_imports("sys", "json"):
        import json

        assert json.loads("7") == 7


def test_unknown_attribute_of_deferred_module_raises_attribute_error(module: str) -> None:
    with deferred_imports(module):
        substitute = __import__(module)
    with pytest.raises(AttributeError, match="other"):
        _ = substitute.other
