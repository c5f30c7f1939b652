"""Settings with a scripted simulator, assistant and judge, each of which can be changed and shifted."""

from pathlib import Path

SHIFT = "shifted"
"""The scripted model with a known shift (shifted_chat.py)."""
SETTINGS = Path(__file__).with_suffix(".toml")


def write_settings(folder: Path, users: int = 12, **models: str) -> Path:
    """Write memflow.toml with these models by role (simulator, assistant, judge). Return its path."""
    names = {"simulator": "first", "assistant": "second", "judge": "third", **models}
    text = SETTINGS.read_text(encoding="utf-8")
    file = folder / "memflow.toml"
    file.write_text(text.format(home=folder / "home", users=users, **names), encoding="utf-8")
    return file
