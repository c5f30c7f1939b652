"""The memory servers of examples/memory_servers, each against a fake of its service or library, through JSON lines."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from memory_server_lines import JsonLines, adapter, message
from memory_service_fakes import FakeLetta, FakeModels, FakeSupermemory, serving

HERE = Path(__file__).parent
LIBRARIES = HERE / "libraries"
Started = Callable[[], AbstractContextManager[tuple[JsonLines, str]]]


@pytest.fixture
def libraries(tmp_path: Path) -> list[Path]:
    """Return module paths with the fake libraries and the metadata of their versions."""
    for name, version in (("mem0ai", "2.2.1"), ("graphiti_core", "0.31.1"), ("falkordblite", "0.11.0")):
        folder = tmp_path / "metadata" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return [LIBRARIES, tmp_path / "metadata"]


@pytest.fixture
def start(libraries: list[Path]) -> Callable[[str], AbstractContextManager[JsonLines]]:
    """Return a function that starts an adapter with its fakes and requests `hello`."""

    @contextmanager
    def started_adapter(name: str) -> Iterator[JsonLines]:
        with (
            serving(FakeModels()) as models,
            serving(FakeLetta()) as letta,
            serving(FakeSupermemory()) as memories,
        ):
            arguments = {
                "letta": ["--url", letta.url],
                "supermemory": ["--url", memories.url, "--revision", "0.0.5"],
            }
            with adapter(name, *arguments.get(name, []), paths=libraries) as lines:
                lines.hello(models.url)
                yield lines
                assert lines.end() == 0

    return started_adapter


BOTH = {"forget": ["message", "text"]}
NAMES = ("mem0", "graphiti", "letta", "supermemory", "a_mem")
FACTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mem0": (
        "mem0",
        "2.2.1",
        {"sources": "write", "models": "given", "export": "live", "batch": "pair", **BOTH},
    ),
    "graphiti": (
        "graphiti",
        "0.31.1, falkordblite 0.11.0",
        {"sources": "message", "models": "given", "fork": True, **BOTH},
    ),
    "letta": (
        "letta-archives",
        "0.16.8",
        {"sources": "message", "models": "given", "export": "live", **BOTH},
    ),
    "supermemory": (
        "supermemory",
        "0.0.5",
        {"sources": "write", "models": "own", "batch": "session", "forget": []},
    ),
    "a_mem": ("a-mem", "unknown", {"sources": "message", "models": "given", "spaces": 4, **BOTH}),
}


@pytest.mark.parametrize("name", NAMES)
def test_hello_reports_version_settings_and_capabilities(start: Any, name: str) -> None:
    with start(name) as server:
        first, second = server.hello(), server.hello()
        assert first == second
        expected_name, version, can = FACTS[name]
        assert (first["name"], first["version"]) == (expected_name, version)
    with start(name) as server, serving(FakeModels()) as models:
        declared = server.hello(models.url)["can"]
        assert can.items() <= declared.items()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_found_at_once_with_its_source_and_date(start: Any, name: str) -> None:
    with start(name) as server:
        server.succeed("reset", space="run 1/ü")
        text = 'Rex 🐶 the "dog" sleeps in the garden.'
        answer = server.write("run 1/ü", 1, message("s1/m1", text, "2014-03-05T10:00:00", "Ann"))
        assert answer["failures"] == []
        server.write("run 1/ü", 2, message("s1/m2", "The weather is unusually warm"))
        (found,) = server.read("run 1/ü", "garden of the dog Rex", k=1)
        assert text in found["text"] and "2014-03-05" in found["text"] + found.get("sent_at", "")
        assert found["sources"] == (["s1/m1"] if FACTS[name][2]["sources"] == "message" else ["1"])


@pytest.mark.parametrize("name", NAMES)
def test_spaces_are_separate_and_reset_empties_one(start: Any, name: str) -> None:
    with start(name) as server:
        for space, word in (("a", "marmalade"), ("b", "zeppelin")):
            server.succeed("reset", space=space)
            server.write(space, 1, message("m1", f"the secret is {word}"))
        for space, word in (("a", "marmalade"), ("b", "zeppelin")):
            assert [word in each["text"] for each in server.read(space, "the secret is")] == [True]
        server.succeed("reset", space="a")
        assert server.read("a", "the secret is") == []
        assert len(server.read("b", "the secret is")) == 1
        server.succeed("close", space="b")
        assert server.fail("read", space="b", query="the secret is", k=5)["code"] == "no_space"


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "export" in FACTS[name][2]] + ["graphiti", "a_mem"]
)
def test_export_lists_all_items_in_order_of_the_writes(start: Any, name: str) -> None:
    with start(name) as server:
        server.succeed("reset", space="a")
        assert server.succeed("export", space="a")["items"] == []
        for number in range(1, 31):
            server.write(
                "a", number, message(f"m{number}", f"fact {number}", f"2014-03-{number:02}T10:00:00")
            )
        items = server.succeed("export", space="a")["items"]
        assert [re.search(r"fact (\d+)", each["text"])[1] for each in items] == [str(n) for n in range(1, 31)]  # type: ignore[index]


@pytest.mark.parametrize("name", NAMES)
def test_forget_deletes_what_a_request_names_and_nothing_else(start: Any, name: str) -> None:
    texts = ["Ann's cat is ill", "the cat of Bob is ill", "Ann bought a piano", "安妮的猫病了"]
    requests = [{"by": "text", "text": "CAT, Ann"}, {"by": "text", "text": "cat dog"}]
    with start(name) as server:
        by_message = name != "supermemory"
        if by_message:
            requests += [{"by": "message", "message_ids": ["m3", "m9"]}, {"by": "text", "text": "猫"}]
        else:  # its other modes of search return documents, which keep what is forgotten
            hello = server.succeed("hello", protocol=1, settings={"search_mode": "memories"})
            assert hello["can"]["forget"] == ["text"]
        server.succeed("reset", space="a")
        for number, text in enumerate(texts, 1):
            server.write("a", number, message(f"m{number}", text, "2014-03-05T10:00:00"))
        for number, request in enumerate([*requests, *requests], len(texts) + 1):
            server.succeed("forget", space="a", write=number, **request)
        found = " ".join(row["text"] for row in server.read("a", " ".join(texts)))
        assert [text in found for text in texts] == [False, True, not by_message, not by_message]


@pytest.mark.parametrize("name", ["graphiti"])
def test_fork_is_a_copy_that_later_writes_do_not_change(start: Any, name: str) -> None:
    with start(name) as server:
        server.succeed("reset", space="a")
        server.write("a", 1, message("m1", "Ann lives in Oslo"))
        server.succeed("fork", space="a", to="a@1")
        server.write("a", 2, message("m2", "Ann lives in Rome"))
        assert [each["sources"] for each in server.read("a@1", "where lives Ann")] == [["m1"]]
        assert len(server.read("a", "where lives Ann")) == 2
        server.succeed("fork", space="a", to="a@1")
        assert len(server.read("a@1", "where lives Ann")) == 2


@pytest.mark.parametrize("name", ["graphiti", "letta", "a_mem"])
def test_failure_of_one_message_does_not_lose_the_others(start: Any, name: str) -> None:
    word = {"letta": "unacceptable"}.get(name, "unclear")
    with start(name) as server:
        server.succeed("reset", space="a")
        sent = [message("m1", "first fact"), message("m2", f"{word} fact"), message("m3", "third fact")]
        (failure,) = server.write("a", 1, *sent)["failures"]
        assert failure["sources"] == ["m2"] and failure["why"]
        found = {source for each in server.read("a", "fact") for source in each["sources"]}
        assert {"m1", "m3"} <= found


@pytest.mark.parametrize("name", ["mem0", "graphiti", "letta", "supermemory", "a_mem"])
def test_message_without_words_is_skipped(start: Any, name: str) -> None:
    with start(name) as server:
        server.succeed("reset", space="a")
        assert server.write("a", 1, message("m1", " \n"))["failures"] == []


def test_mem0_states_the_date_of_the_messages_instead_of_the_day_of_the_run(libraries: list[Path]) -> None:
    with serving(FakeModels()) as models, adapter("mem0", paths=libraries) as server:
        server.hello(models.url)
        server.succeed("reset", space="a")
        sent = [message("m1", "I came back yesterday", "2014-03-05T10:00:00"), message("m2", "no date")]
        server.write("a", 1, *sent)
        prompts = [
            body["messages"][-1]["content"]
            for _, path, body in models.requests
            if path.endswith("completions")
        ]
        assert [prompt.split("\n")[-1] for prompt in prompts] == ["2014-03-05", "unknown"]
        assert [each.get("sent_at") for each in server.read("a", "I came back yesterday no date")] == [
            "2014-03-05T10:00:00",
            None,
        ]


def test_mem0_space_that_was_reset_does_not_read_earlier_messages(libraries: list[Path]) -> None:
    """The library keeps the last messages of a user when its memories are deleted."""
    with serving(FakeModels()) as models, adapter("mem0", paths=libraries) as server:
        server.hello(models.url)
        for text in ("the secret is marmalade", "hello"):
            server.succeed("reset", space="a")
            server.write("a", 1, message("m1", text))
        prompts = [
            body["messages"][-1]["content"]
            for _, path, body in models.requests
            if path.endswith("completions")
        ]
        assert "marmalade" in prompts[0] and "marmalade" not in prompts[1]


def test_mem0_extraction_that_is_no_json_is_a_failure_of_the_write(libraries: list[Path]) -> None:
    with serving(FakeModels()) as models, adapter("mem0", paths=libraries) as server:
        models.broken = "broken"
        server.hello(models.url)
        server.succeed("reset", space="a")
        (failure,) = server.write("a", 1, message("m1", "a broken fact"), message("m2", "another"))[
            "failures"
        ]
        assert "parsing extraction" in failure["why"] and failure["sources"] == ["m1", "m2"]
        assert server.write("a", 2, message("m3", "a fact"))["failures"] == []


def test_mem0_of_another_version_is_refused(libraries: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "older" / "mem0ai-1.0.11.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mem0ai\nVersion: 1.0.11\n")
    with adapter("mem0", paths=[tmp_path / "older"]) as server:
        assert "1.0.11 is installed, but this server needs 2.x" in server.fail("hello", protocol=1)["message"]


def test_graphiti_marks_facts_that_are_not_valid_any_more(start: Any) -> None:
    with start("graphiti") as server:
        server.succeed("reset", space="a")
        server.write("a", 1, message("m1", "Ann lives in Oslo", "2014-03-05T10:00:00"))
        server.write("a", 2, message("m2", "contradicts: Ann lives in Rome", "2015-01-01T00:00:00+02:00"))
        texts = {each["sources"][0]: each["text"] for each in server.succeed("export", space="a")["items"]}
        assert "not valid any more since 2015-01-01" in texts["m1"] and "not valid" not in texts["m2"]


def test_graphiti_ends_its_database_when_it_is_killed(libraries: list[Path], tmp_path: Path) -> None:
    with adapter("graphiti", paths=libraries, variables={"TMPDIR": str(tmp_path)}) as server:
        server.hello("http://127.0.0.1:9")
        server.succeed("reset", space="a")
        (pid_file,) = tmp_path.glob("memflow-graphiti-*/graphs.db.pid")
        database = Path("/proc") / pid_file.read_text().strip()
        assert database.exists()
        server.process.kill()
        server.process.wait()
    for _ in range(200):
        if not database.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{database} still runs")


def test_letta_export_reads_all_pages(start: Any) -> None:
    with start("letta") as server:
        server.succeed("reset", space="a")
        sent = [message(f"m{n}", f"fact {n}", f"2014-01-01T00:{n // 60:02}:{n % 60:02}") for n in range(250)]
        server.write("a", 1, *sent)
        assert [each["sources"] for each in server.succeed("export", space="a")["items"]] == [
            [f"m{n}"] for n in range(250)
        ]


def test_letta_archive_of_an_earlier_process_is_deleted_by_reset() -> None:
    with serving(FakeModels()) as models, serving(FakeLetta()) as letta:
        for _ in range(2):
            with adapter("letta", "--url", letta.url) as server:
                server.hello(models.url)
                server.succeed("reset", space="a")
                assert server.read("a", "fact") == []
                server.write("a", 1, message("m1", "fact"))
                server.process.kill()
                server.process.wait()
        assert len(letta.archives) == 1


def test_letta_gets_an_address_that_adds_the_key_of_the_given_model() -> None:
    with (
        serving(FakeModels()) as models,
        serving(FakeLetta()) as letta,
        adapter("letta", "--url", letta.url) as server,
    ):
        models.key = "memflow"
        server.hello(models.url)
        server.succeed("reset", space="a")
        (archive,) = letta.archives.values()
        address = archive["embedding_config"]["embedding_endpoint"]
        assert archive["embedding_config"]["embedding_dim"] == 64 and "memflow" not in address
        body = json.dumps({"model": "stub", "input": ["fact"]}).encode()
        headers = {"Authorization": "Bearer the key of the Letta server"}
        with urlopen(Request(f"{address}/embeddings", body, headers)) as reply:
            assert len(json.loads(reply.read())["data"][0]["embedding"]) == 64
        with pytest.raises(HTTPError, match="404"):
            urlopen(Request(f"{address}x/embeddings", body, headers))
        with pytest.raises(HTTPError, match="404"):
            urlopen(Request(f"{address}/chat/completions", body, headers))
        models.key = "another"
        with pytest.raises(HTTPError, match="401"):
            urlopen(Request(f"{address}/embeddings", body, headers))
        assert server.end() == 0
    with pytest.raises(URLError):
        urlopen(Request(f"{address}/embeddings", body, headers))


def test_key_of_a_service_is_read_from_its_variable_and_never_shown() -> None:
    with serving(FakeSupermemory()) as service:
        variables = {"MY_KEY": "sm_secret_123"}
        with adapter(
            "supermemory", "--url", service.url, "--key-variable", "MY_KEY", variables=variables
        ) as server:
            assert "sm_secret" not in json.dumps(server.hello())
        assert service.headers[0]["authorization"] == "Bearer sm_secret_123"


def test_supermemory_write_waits_for_document_and_memories() -> None:
    with serving(FakeSupermemory(polls=3)) as service, adapter("supermemory", "--url", service.url) as server:
        server.hello()
        server.succeed("reset", space="a")
        service.busy = 2
        server.write("a", 1, message("m1", "fact"))
        assert len(server.read("a", "fact")) == 1
        (document,) = service.documents.values()
        assert document["polls"] == {"documents": 5, "memories": 3}


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("broken documents", "indexing", "failed (documents)"),
        ("broken memories", "indexing", "failed (memories)"),
        ("deleted", "indexing", "deleted document doc_1"),
        ("endless", "timeout", "did not end within 0.2 s"),
    ],
)
def test_supermemory_indexing_that_does_not_end_well_fails_the_write(text: str, code: str, why: str) -> None:
    limit = ("--indexing-limit", "0.2")
    with (
        serving(FakeSupermemory()) as service,
        adapter("supermemory", "--url", service.url, *limit) as server,
    ):
        server.hello()
        server.succeed("reset", space="a")
        error = server.fail("write", space="a", write=1, messages=[message("m1", text)])
        assert error["code"] == code and why in error["message"]
        assert server.read("a", "fact") == []


def test_service_that_does_not_run_is_an_error_of_hello() -> None:
    for name in ("letta", "supermemory"):
        with adapter(name, "--url", "http://127.0.0.1:9") as server:
            error = server.fail("hello", protocol=1)
            assert (
                error["code"] == "unreachable" and error["again"] and "http://127.0.0.1:9" in error["message"]
            )


def test_a_mem_uses_the_given_model_and_reports_a_search_that_failed(libraries: list[Path]) -> None:
    with adapter("a_mem", paths=libraries) as server:
        server.hello("http://127.0.0.1:1234")
        server.succeed("reset", space="a")
        server.write("a", 1, message("m1", "fact"))
        assert "by stub at http://127.0.0.1:1234/v1" in server.read("a", "fact")[0]["text"]
        assert "no collection" in server.fail("read", space="a", query="fault", k=5)["message"]


def test_a_mem_without_the_library_states_what_to_install() -> None:
    with adapter("a_mem") as server:
        error = server.fail("hello", protocol=1)
        assert error["code"] == "not_installed" and "README.md" in error["message"]


def test_a_mem_refuses_more_spaces_than_declared(libraries: list[Path]) -> None:
    with adapter("a_mem", "--spaces", "1", paths=libraries) as server:
        assert server.hello()["can"]["spaces"] == 1
        server.succeed("reset", space="a")
        assert server.fail("reset", space="b")["code"] == "spaces"
        server.succeed("close", space="a")
        server.succeed("reset", space="b")
