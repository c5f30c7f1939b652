"""The modes of memory servers: which one `auto` chooses, and what an impossible mode lacks."""

from typing import Any

import pytest
from faulty_server import EVERYTHING

from memflow.errors import BadSettings
from memflow.memories.server.capabilities import choose_mode
from memflow.memories.server.protocol import Capabilities, Hello


def hello(**changed: Any) -> Hello:
    return Hello(name="fake", version="1", can=EVERYTHING.model_copy(update=changed))


@pytest.mark.parametrize(
    ("changed", "mode"),
    [
        ({}, "as_of"),
        ({"as_of": "dates"}, "restore"),
        ({"pure_reads": False}, "ask_at_once"),
        ({"as_of": "none", "restore": False}, "ask_at_once"),
        ({"as_of": "none", "export": "none"}, "ask_at_once"),
        ({"as_of": "none", "export": "none", "spaces": 1}, "ask_at_once"),
        ({"spaces": 4, "deterministic": False, "restore": False}, "ask_at_once"),
    ],
)
def test_auto_chooses_the_first_mode_that_the_capabilities_allow(changed: dict[str, Any], mode: str) -> None:
    assert choose_mode("auto", hello(**changed)) == mode


def test_server_that_declares_nothing_is_asked_at_once() -> None:
    assert choose_mode("auto", Hello(name="fake", version="1", can=Capabilities())) == "ask_at_once"


@pytest.mark.parametrize(
    ("mode", "changed", "missing"),
    [
        ("as_of", {"as_of": "dates"}, '`as_of: "writes"` (it declares "dates")'),
        ("as_of", {"pure_reads": False}, "`pure_reads: true`"),
        ("as_of", {"spaces": 1, "deterministic": False}, "`spaces: 0` or `deterministic: true`"),
        ("restore", {"restore": False}, "`restore: true`"),
        ("restore", {"pure_reads": False}, "`pure_reads: true`"),
        ("restore", {"export": "none"}, '`export: "live"`'),
    ],
)
def test_impossible_mode_is_rejected_with_the_missing_capability(
    mode: str, changed: dict[str, Any], missing: str
) -> None:
    with pytest.raises(BadSettings, match="Set mode = 'auto' or 'ask_at_once'") as wrong:
        choose_mode(mode, hello(**changed))
    assert missing in str(wrong.value)


def test_asking_at_once_needs_no_capability() -> None:
    assert choose_mode("ask_at_once", Hello(name="fake", version="1")) == "ask_at_once"
