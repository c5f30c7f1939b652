"""API keys: rotation, pauses, keys that are set aside, and removal from texts."""

import logging

import pytest

from memflow.errors import BadSettings
from resources.endpoints.api_keys import NO_KEY, KeyRing

KEY, OTHER = "sk-proj-abcdefgh1234wxyz", "sk-proj-another-key-5678"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", KEY)
    monkeypatch.setenv("SECOND", OTHER)
    monkeypatch.delenv("UNSET", raising=False)


def test_key_ring_alternates_between_keys_and_skips_paused_keys() -> None:
    now = 0.0
    ring = KeyRing(("FIRST", "UNSET", "SECOND"), clock=lambda: now)
    variables = {ring.choose().variable for _ in range(2)}
    assert variables == {"FIRST", "SECOND"}
    paused = ring.choose()
    ring.pause(paused, 10)
    assert all(ring.choose() != paused for _ in range(4))
    now = 11.0
    assert {ring.choose().variable for _ in range(2)} == variables


def test_key_rings_of_one_address_share_the_longest_pause() -> None:
    shared: dict[str, float] = {}
    one, other = (KeyRing(("FIRST",), paused_until=shared, clock=lambda: 0.0) for _ in range(2))
    one.pause(one.choose(), 10)
    one.pause(one.choose(), 5)
    assert other.pause_of(other.choose()) == 10


def test_key_ring_does_not_set_aside_the_last_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    ring = KeyRing(("FIRST", "SECOND"))
    first = ring.choose()
    assert ring.set_aside(first, "its quota is used up") and ring.set_aside(first, "again")
    last = ring.choose()
    assert last != first
    assert not ring.set_aside(last, "its quota is used up")
    assert ring.choose() == last
    assert caplog.text.count("is no longer used") == 1
    assert KEY not in caplog.text and OTHER not in caplog.text


def test_key_ring_sends_a_placeholder_without_key_and_hides_keys_in_repr() -> None:
    ring = KeyRing(("UNSET",))
    assert ring.headers(ring.choose()) == {"Authorization": f"Bearer {NO_KEY}"}
    ring = KeyRing(("FIRST",), "api-key")
    assert ring.headers(ring.choose()) == {"api-key": KEY}
    assert KEY not in repr(ring.choose())


@pytest.mark.parametrize(
    "shown", [KEY, "sk-proj-****wxyz", "sk-p...wxyz", "sk-proj-abc\u2026xyz", "sk-proj-abcd***"]
)
def test_redact_removes_whole_and_masked_keys(shown: str) -> None:
    redacted = KeyRing(("FIRST", "SECOND")).redact(f"Incorrect API key provided: {shown}.")
    assert redacted == "Incorrect API key provided: <FIRST>."


@pytest.mark.parametrize(
    "text", ["sk-proj-is a prefix", "well...wxyz", "sk-...", "sk-other****wxyz", "sk-****wxyy"]
)
def test_redact_does_not_change_text_that_only_resembles_a_key(text: str) -> None:
    assert KeyRing(("FIRST",)).redact(text) == text


def test_redact_does_not_remove_very_short_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "test")
    assert KeyRing(("FIRST",)).redact("a test") == "a test"


def test_key_ring_rejects_a_key_with_an_inner_line_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "sk-one\nsk-two")
    with pytest.raises(BadSettings, match="variable FIRST") as caught:
        KeyRing(("FIRST",))
    assert "sk-one" not in str(caught.value)
    monkeypatch.setenv("FIRST", f"{KEY}\n")
    ring = KeyRing(("FIRST",))
    assert ring.choose().value == KEY
