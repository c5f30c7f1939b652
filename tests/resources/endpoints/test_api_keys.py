"""API keys: the header that sends a key, and its removal from texts."""

import pytest

from memflow.errors import BadSettings
from memflow.resources.endpoints.api_keys import NO_KEY, ApiKey

KEY = "sk-proj-abcdefgh1234wxyz"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", KEY)
    monkeypatch.delenv("UNSET", raising=False)


def test_key_is_sent_in_the_header_of_the_profile_and_hidden_in_repr() -> None:
    assert ApiKey.of("UNSET").headers("Authorization: Bearer") == {"Authorization": f"Bearer {NO_KEY}"}
    assert ApiKey.of("FIRST").headers("api-key") == {"api-key": KEY}
    assert KEY not in repr(ApiKey.of("FIRST"))


@pytest.mark.parametrize(
    "shown",
    [
        KEY,
        "sk-proj-****wxyz",
        "sk-p...wxyz",
        "sk-proj-abc\u2026xyz",
        "sk-proj-abcd***",
        KEY.replace("-", r"\u002D"),
        r"sk-proj-\u2022\u2022\u2022wxyz",
    ],
)
def test_redact_removes_whole_and_masked_keys(shown: str) -> None:
    redacted = ApiKey.of("FIRST").redact(f"Incorrect API key provided: {shown}.")
    assert redacted == "Incorrect API key provided: <FIRST>."
    content = ApiKey.of("FIRST").redact_content(b"\xff" + shown.encode())
    assert content == b"\xff<FIRST>"


@pytest.mark.parametrize(
    "text", ["sk-proj-is a prefix", "well...wxyz", "sk-...", "sk-other****wxyz", "sk-****wxyy"]
)
def test_redact_does_not_change_text_that_only_resembles_a_key(text: str) -> None:
    assert ApiKey.of("FIRST").redact(text) == text


def test_redact_does_not_remove_very_short_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "test")
    assert ApiKey.of("FIRST").redact("a test") == "a test"


def test_api_key_rejects_a_key_with_an_inner_line_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", "sk-one\nsk-two")
    with pytest.raises(BadSettings, match="variable FIRST") as caught:
        ApiKey.of("FIRST")
    assert "sk-one" not in str(caught.value)
    monkeypatch.setenv("FIRST", f"{KEY}\n")
    assert ApiKey.of("FIRST").value == KEY
