"""Settings with a scripted simulator, assistant and judge, each of which can be changed and shifted."""

from pathlib import Path

SHIFT = "shifted"
"""The scripted model with a known shift (shifted_chat.py)."""
SETTINGS = """
home = "{home}"
domains = ["generated_users", "memorybench_demo"]
assistants = ["full"]
sensor_seconds = 3

[roles]
simulator = "simulating"
assistant = "answering"
judge = "judging"

[models.simulating]
kind = "scripted"
model = "{simulator}"

[models.answering]
kind = "scripted"
model = "{assistant}"

[models.judging]
kind = "scripted"
model = "{judge}"

[own_domains.generated_users]
benchmark = "amemgym"
datasets = ["personas_en"]

[own_domains.generated_users.parameters]
users = 12
periods = 2
questions = 2
variables_per_question = 2
choices_per_variable = 3
changes_per_period = 3
max_changes_per_variable = 3
min_variants = 4
months_per_period = 3
rounds_init = 1
rounds_update = 2
start_date = "2020-10-01"
"""


def write_settings(folder: Path, **models: str) -> Path:
    """Write memflow.toml with these models by role (simulator, assistant, judge). Return its path."""
    names = {"simulator": "first", "assistant": "second", "judge": "third", **models}
    file = folder / "memflow.toml"
    file.write_text(SETTINGS.format(home=folder / "home", **names), encoding="utf-8")
    return file
