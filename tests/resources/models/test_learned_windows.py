"""Windows that servers state before a run, and what follows from them in the settings."""

from pathlib import Path

from stub import stub_process

from memflow.resources.endpoints.windows import learned_window
from memflow.resources.models.learned_windows import learn_windows
from memflow.resources.settings.settings import Settings, load


def settings_of(home: Path, url: str, **model: object) -> Settings:
    served = {"url": url, "model": "stub", **model}
    return load(
        over={
            "home": home,
            "models": {"served": served},
            "roles": {"assistant": "served"},
            "token_limits": {"assistant": {"output": 1000}},
        }
    )


def test_run_learns_the_window_and_keeps_it_while_the_server_is_down(tmp_path: Path) -> None:
    with stub_process(max_model_len=8192) as url:
        settings = settings_of(tmp_path, url)
        assert (settings.window_of("full"), settings.model("served").profile.window) == (None, None)
        [sentence] = learn_windows(settings, ["full", "none"])
        assert "the context window of served has 8,192 tokens" in sentence
        assert learn_windows(settings, ["full"]) == []
    assert settings.window_of("full") == 8192 - 1000
    assert learn_windows(settings, ["full"]) == []  # nobody answers
    assert settings.window_of("full") == 8192 - 1000
    assert settings.model("served").fingerprint() == settings.models["served"].fingerprint()


def test_setting_has_priority_over_the_server(tmp_path: Path) -> None:
    with stub_process(max_model_len=8192) as url:
        settings = settings_of(tmp_path, url, profile={"window": 4096})
        assert learn_windows(settings, ["full"]) == []
    assert learned_window(tmp_path, url, "stub") is None and settings.window_of("full") == 4096 - 1000


def test_server_without_a_window_is_named_with_the_memories_that_need_it(tmp_path: Path) -> None:
    with stub_process() as url:
        settings = settings_of(tmp_path, url)
        [sentence] = learn_windows(settings, ["full", "recent"])
        assert learn_windows(settings, ["recent"]) == []
    assert "states no context window of served, so these memories drop nothing: full. " in sentence
    assert "`window` below [models.served.profile]" in sentence


def test_vllm_server_that_memflow_starts_has_the_window_of_its_setting(tmp_path: Path) -> None:
    vllm = {"kind": "vllm", "model": "m", "max_model_len": 4096}
    settings = load(over={"home": tmp_path, "models": {"own": vllm}, "roles": {"assistant": "own"}})
    assert settings.model("own").profile.window == 4096
