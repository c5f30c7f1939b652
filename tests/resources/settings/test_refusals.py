"""Refused settings: each sentence names the source, the key and the value, and what is allowed."""

from pathlib import Path

import pytest

from memflow.errors import BadSettings
from memflow.resources.settings.settings import load

MODEL = '[models.m]\nurl = "http://127.0.0.1:1/v1"\nmodel = "a/b"\n'


@pytest.fixture(autouse=True)
def _alone(clean_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SETTINGS", "DATA", "HOME", "LAKE", "LEDGER", "DOMAINS", "ASSISTANTS", "WORDNET", "CMUDICT"):
        monkeypatch.delenv(f"MEMFLOW_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


def refused(text: str) -> str:
    """Return the sentence that refuses a settings file."""
    Path("memflow.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadSettings) as wrong:
        load()
    return str(wrong.value)


@pytest.mark.parametrize(
    ("text", "given", "allowed"),
    [
        ("domains = 5", "domains = 5", "It must be a list in brackets."),
        ('domains = "amemgym_demo"', 'domains = "amemgym_demo"', 'It must be a list: ["amemgym_demo"].'),
        ("domains = [5]", "domains.0 = 5", "It must be a text in quotes."),
        ("home = 5", "home = 5", "It must be a path in quotes."),
        ("prompts = 5", "prompts = 5", "It must be a path in quotes."),
        ("parallel = -1", "parallel = -1", "It must be greater than or equal to 0."),
        ('parallel = "two"', 'parallel = "two"', "It must be an integer."),
        ("budget = 5", "budget = 5", "a table with some of the settings calls, tokens, cost."),
        ("[budget]\ncalls = 1.5", "budget.calls = 1.5", "It must be an integer."),
        (f'{MODEL}profile = "nosuch"', 'models.m.profile = "nosuch"', "It must be a table with some of"),
        (f'{MODEL}preset = "nosuch"', 'models.m.preset = "nosuch"', "there is no preset 'nosuch'"),
        (f"{MODEL}temperature = 3", "models.m.temperature = 3", "It must be less than or equal to 2."),
        (f"{MODEL}nosuch = 5", "models.m.nosuch = 5", "`memflow init example.toml` lists all."),
        (
            MODEL.replace('"http://127.0.0.1:1/v1"', '["http://a/v1", "http://b/v1"]'),
            "models.m.url",
            "It must be a text in quotes.",
        ),
        (MODEL.replace("/v1", "/v1?api-version=1"), "models.m.url", "set `query` of the profile"),
        (MODEL.replace("/v1", "/v1/chat/completions"), "models.m.url", "Remove the end /chat/completions"),
        (f'{MODEL}key_variable = ["A", "B"]', "models.m.key_variable", "It must be a text in quotes."),
        (f"{MODEL}max_tokens = 5", "models.m: ", "cannot set `max_tokens` (5). Remove it"),
        ("[roles]\njudge = 5", "roles.judge = 5", "It must be a text in quotes or be a list in brackets."),
        ('[encoder.fr]\nfolder = "x"', 'the name "fr" in encoder.fr', "It must be one of 'en' or 'zh'."),
        ("[encoder.en]\nlayer = 1", "encoder.en.folder is missing", "Add it."),
        ('[memories.x]\nsystem = "recent"\nk = 3', "memories.x: `k` (3)", "Remove it"),
        ('lake = "ftp://x"', 'lake = "ftp://x"', "the lake is a folder"),
    ],
)
def test_refusal_names_source_key_value_and_what_is_allowed(text: str, given: str, allowed: str) -> None:
    sentence = refused(text)
    assert sentence.startswith(f"memflow.toml: {given}"), sentence
    assert allowed in sentence and sentence.endswith("."), sentence


@pytest.mark.parametrize(
    ("text", "given", "advice"),
    [
        ('home = ""', 'home = ""', "an empty path is the current folder"),
        ('prompts = ""', 'prompts = ""', "an empty path is the current folder"),
        ("domains = ['a_b', 'a_b']", 'domains = ["a_b", "a_b"]', "a_b is repeated. Name each once."),
        ("assistants = ['full', 'full']", 'assistants = ["full", "full"]', "full is repeated."),
        ('[models.m]\nurl = "http://h/v1"\nmodel = ""', 'models.m.model = ""', "Write the name under which"),
        (
            '[models.m]\nurl = "file:///etc/passwd"\nmodel = "m"',
            'models.m.url = "file:///etc/passwd"',
            "http://",
        ),
        ('[models.m]\nurl = "127.0.0.1:80"\nmodel = "m"', 'models.m.url = "127.0.0.1:80"', "http://"),
        ('[memories.m]\nurl = "file:///x"', 'memories.m.url = "file:///x"', "http://"),
    ],
)
def test_empty_repeated_and_impossible_values_are_refused(text: str, given: str, advice: str) -> None:
    sentence = refused(text)
    assert sentence.startswith(f"memflow.toml: {given}: ") and advice in sentence, sentence


def test_refusal_of_a_variable_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFLOW_BUDGET__CALLS", "0")
    assert refused("").startswith(
        'the environment variable MEMFLOW_BUDGET__CALLS: budget.calls = "0" is refused'
    )


def test_refusal_shows_no_secret() -> None:
    sentences = (
        refused(f'{MODEL}api_key = "sk-secret"'),
        refused('[modles.m]\napi_key = "sk-secret"'),
        refused('[models.m]\nurl = "http://me:sk-secret@host/v1"\nmodel = "m"'),
        refused('ledger = ["postgresql://me:sk-secret@host/name"]'),
    )
    assert not [sentence for sentence in sentences if "sk-secret" in sentence]
