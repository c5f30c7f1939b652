"""Shared fixtures: a small published data set, an environment without personal settings, Hypothesis profiles."""

import gc
import itertools
import json
import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from profiles import load_profile

from memflow.resources import source_code

load_profile()

LONGEST = (
    "tests/daemon/",
    *("tests/browser/test_ui", "tests/whole/test_kill", "tests/docs/test_tutorial"),
    *("tests/whole/", "tests/browser/"),
)
"""Path prefixes of the modules that take longest. Each runs in one process, so they start first."""


def pytest_configure() -> None:
    """Unset the terminal size that pytest-xdist sets: commands under test write to pipes. Hide the user's data.

    A shell starts background jobs with SIGINT ignored. Dagster would ignore SIGTERM then too, and so would every
    subprocess of a test.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    # The default data folder, which has no files in tests.
    os.environ["XDG_DATA_HOME"] = "/nonexistent/memflow-tests"


def pytest_collection() -> None:
    """Pause garbage collection: importing the tests creates objects that all stay alive."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest modules first, so that no process works alone at the end."""

    def rank(item: pytest.Item) -> int:
        return next(
            (number for number, prefix in enumerate(LONGEST) if item.nodeid.startswith(prefix)), len(LONGEST)
        )

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Resume garbage collection and exempt what collection created."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide personal settings from tests, except MEMFLOW_DATA, which names the published files."""
    for name in ("MEMFLOW_SETTINGS", "MEMFLOW_HOME", "MEMFLOW_LAKE", "MEMFLOW_LEDGER", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _sources_parsed_once() -> Iterator[None]:
    """Parse each content of a source file once. A new home has no cache of parsed files, and tests create hundreds."""
    known: dict[tuple[str, bytes], source_code.Source] = {}
    parse = source_code._parsed

    def parse_once(path: Path) -> source_code.Source:
        key = (path.stem, path.read_bytes())
        if key not in known:
            known[key] = parse(path)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_code, "_parsed", parse_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _instances_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Create Dagster's databases once. Homes of this process get copies, if they have Dagster's own settings."""
    instances = sys.modules.get("memflow.resources.instance.instance")
    if instances is None:  # no test here runs the pipeline
        yield
        return
    made, making = tmp_path_factory.mktemp("instance") / "home", threading.Lock()
    from_dir = instances.InstanceRef.from_dir

    def from_dir_with_databases(folder: str, **options: Any) -> Any:
        """Copy the databases, under the lock of whoever opens the instance, and return its reference."""
        first, here = instances.dagster_home(made), Path(folder)
        if here != first and not (here / "history").exists() and _has_settings_of(first, here):
            with making:
                if not (first / "history").exists():
                    with instances.open_instance(made):
                        pass
            for name in ("history", "schedules"):
                shutil.copytree(first / name, here / name)
        return from_dir(folder, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instances.InstanceRef, "from_dir", from_dir_with_databases)
        yield


def _has_settings_of(first: Path, other: Path) -> bool:
    files = [folder / "dagster.yaml" for folder in (first, other)]
    return all(map(Path.exists, files)) and len({file.read_bytes() for file in files}) == 1


@pytest.fixture(scope="session")
def published_users() -> Callable[..., Path]:
    """Return a function that writes AMemGym users in the published format and returns the data folder."""

    def write(folder: Path, users: int = 2, periods: int = 3, questions: int = 2) -> Path:
        path = folder / "amemgym/v1.base/data.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        made = [_user(number, periods, questions) for number in range(users)]
        path.write_text(json.dumps(made), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """Return the environment of a subprocess without personal settings."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
    }


def _user(number: int, periods: int, questions: int) -> dict[str, Any]:
    chance = random.Random(number)
    names = [f"topic{index}_trait" for index in range(2 * questions)]
    schema = {name: [f"{name}_{value}" for value in ("low", "middle", "high")] for name in names}
    state = {name: values[0] for name, values in schema.items()}
    uuid = f"00000000-0000-4000-8000-{number:012d}"
    walk: list[dict[str, Any]] = []
    for period in range(periods):
        old = dict(state)
        changed = names if period == 0 else chance.sample(names, 2)
        if period:
            for name in changed:
                state[name] = chance.choice([value for value in schema[name] if value != old[name]])
        end, start = _quarter(period), _quarter(period - 1)
        walk.append(
            {
                "period_start": None if period == 0 else start,
                "period_end": end,
                "period_summary": None if period == 0 else "Things changed.",
                "sessions": [
                    {
                        "event": None if period == 0 else f"Something happened about {name}.",
                        "exposed_states": {name: state[name]},
                        "query": f"My {name} is {state[name]}; what now?",
                        "messages": [],
                        "session_time": f"{end} 19:{minute:02d}:00",
                    }
                    for minute, name in enumerate(changed)
                ],
                "state": dict(state),
                "updates": {
                    name: {"old": None if period == 0 else old[name], "new": state[name]} for name in changed
                },
                "update_cnts": {},
            }
        )
    return {
        "id": uuid,
        "start_time": "2021-01-01",
        "user_profile": {
            "uuid": uuid,
            "name": f"User {number}",
            "age": 40,
            "gender": "Female",
            "marital_status": "single",
            "education_level": "college",
            "occupation": "baker",
            "hobbies_and_interests": "chess, walks",
            "skills_and_expertise": "baking",
            "complementary_info": "Likes mornings.",
            "formatted_str": f"name: User {number}",
        },
        "state_schema": schema,
        "periods": walk,
        "qas": [
            _question(index, names[2 * index : 2 * index + 2], schema, walk) for index in range(questions)
        ],
    }


def _quarter(number: int) -> str:
    return f"{2021 + number // 4}-{1 + number % 4 * 3:02d}-01"


def _question(
    index: int, needs: list[str], schema: dict[str, list[str]], walk: list[dict[str, Any]]
) -> dict[str, Any]:
    lived = list(dict.fromkeys(tuple(period["state"][name] for name in needs) for period in walk))
    others = [pair for pair in itertools.product(*(schema[name] for name in needs)) if pair not in lived]
    variants = lived + others[: max(0, 4 - len(lived))]
    return {
        "query": f"What should I do about topic {index}?",
        "required_info": needs,
        "answer_choices": [
            {
                "state": list(pair),
                "answer": f"Since it is {pair[0]} and {pair[1]}, do as suits that.",
                "type": "experience" if pair in lived else "random",
            }
            for pair in variants
        ],
    }
