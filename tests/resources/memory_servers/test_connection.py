"""Connections to memory servers: answers matched to requests, restarts with replay, time limits, invalid answers."""

import asyncio
from pathlib import Path

import pytest
from echo_servers import LIMITS, connect, echo_command, echo_server, found, sent, written_server

from memflow.errors import BadSettings, ServerDown, ServerFailed
from memflow.memories.server.protocol import Hello
from memflow.resources.memory_servers import connection
from memflow.resources.settings.own_sections import ServerTimeLimits

SHORT = ServerTimeLimits(hello=20, read=0.3, write=0.3)


async def test_concurrent_requests_receive_their_own_answers_in_any_order(tmp_path: Path) -> None:
    async with echo_server(tmp_path, "order") as server:
        for space in "abcd":
            await server.reset(space)
            await server.write(space, 1, [sent(ord(space), "an apple")])
        read = await asyncio.gather(*(found(server, space, "apple") for space in "abcdabcd"))
        assert read == [[f"m{ord(space)}"] for space in "abcdabcd"]


async def test_texts_reach_the_server_and_come_back_unchanged(tmp_path: Path) -> None:
    text = 'quotes " \\ \n\r\n\t\u2028\u2029\x85 NUL \x00 emoji 😀 你好 ' + "long " * 1000
    async with echo_server(tmp_path) as server:
        await server.reset("a")
        await server.write("a", 1, [sent(1, text)])
        [item] = (await server.read("a", "emoji", 5)).items
        assert item.text == f"user: {text}"


async def test_killed_server_is_restarted_with_the_writes_of_each_space(tmp_path: Path) -> None:
    async with echo_server(tmp_path) as server:
        for space in "ab":
            await server.reset(space)
            for number in (1, 2):
                await server.write(space, number, [sent(number, f"apple {space}")])
        await server.fork("a", "a@2")
        await server.write("a", 3, [sent(3, "apple later")])
        await server.transport.kill()
        assert await found(server, "a", "apple") == ["m1", "m2", "m3"]
        assert await found(server, "a", "apple", as_of=1) == ["m1"]
        assert await found(server, "a@2", "apple") == ["m1", "m2"]
        assert await found(server, "b", "apple") == ["m1", "m2"]
        assert server.restarts == 1


async def test_only_the_write_that_ends_the_server_fails(tmp_path: Path) -> None:
    async with echo_server(tmp_path, "crash_on=poison") as server:
        spaces = [f"s{number}" for number in range(6)]
        await asyncio.gather(*(server.reset(space) for space in spaces))
        await asyncio.gather(*(server.write(space, 1, [sent(1, "apple")]) for space in spaces))
        texts = ["poison apple" if space == "s3" else "second apple" for space in spaces]
        written = await asyncio.gather(
            *(server.write(space, 2, [sent(2, text)]) for space, text in zip(spaces, texts, strict=True)),
            return_exceptions=True,
        )
        failed = [
            space for space, result in zip(spaces, written, strict=True) if isinstance(result, ServerFailed)
        ]
        assert failed == ["s3"]
        assert "ended with status 3" in str(written[3])
        assert await found(server, "s3", "apple") == ["m1"]
        for space in set(spaces) - {"s3"}:
            assert await found(server, space, "apple") == ["m1", "m2"]


async def test_hung_server_is_restarted_and_the_request_fails_with_its_time_limit(tmp_path: Path) -> None:
    async with echo_server(tmp_path, "hang_on=poison", limits=SHORT) as server:
        await server.reset("a")
        await server.write("a", 1, [sent(1, "apple")])
        with pytest.raises(ServerFailed, match=r"did not answer write within its time limit of 0.3 s"):
            await server.write("a", 2, [sent(2, "poison apple")])
        assert await found(server, "a", "apple") == ["m1"]
        assert server.restarts == 2


async def test_read_behind_a_long_write_does_not_exceed_its_time_limit(tmp_path: Path) -> None:
    async with echo_server(
        tmp_path, "slow=0.3", limits=ServerTimeLimits(hello=20, read=0.2, write=5)
    ) as server:
        await server.reset("a")
        write = asyncio.create_task(server.write("a", 1, [sent(1, "apple")]))
        await asyncio.sleep(0.02)
        await server.read("a", "apple", 5)
        await write
        assert server.restarts == 0


@pytest.mark.parametrize(
    ("fault", "restarts", "message"),
    [
        ("stray", 4, r"failed at write: it wrote text that is not JSON: 'Batches: 100%\|#+\| 1/1'"),
        ("error", 0, r"failed at write: it reported the error full: the disk is full\.$"),
        ("wrong_n", 4, r"failed at read: it answered a request n = 10\d\d that is not open: '{\"items\""),
        ("huge", 4, r"failed at read: it wrote a line longer than 16,777,216 bytes"),
        ("too_many", 0, r"failed at read: it answered 7 items although k is 2"),
    ],
)
async def test_answer_that_breaks_the_protocol_fails_one_request(
    tmp_path: Path, fault: str, restarts: int, message: str
) -> None:
    """A line that belongs to no request ends the server, which is started again once for the request."""
    async with echo_server(tmp_path, fault) as server:
        await server.reset("a")

        async def use() -> None:
            await server.write("a", 1, [sent(1, "apple")])
            await server.read("a", "apple", 2)

        with pytest.raises(ServerFailed, match=message):
            await use()
        with pytest.raises(ServerFailed, match=message):
            await use()
        assert server.restarts == restarts


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("'[1]'", "wrote JSON that is not an object"),
        ("'[' * 100_000", "not JSON"),
        ("'\\xff'", "not JSON"),
        ("{'items': 3}", "items: "),
        ("{'items': [{'id': 1, 'text': 'x'}]}", r"items\.0\.id: "),
        ("{'items': [{'id': 'x' * 501, 'text': 'x'}]}", r"items\.0\.id: "),
        ("{'items': [{'id': 'x', 'text': 'x', 'score': float('nan')}]}", r"items\.0\.score: "),
        ("{'items': [{'id': 'x', 'text': '\\ud800'}]}", "no valid Unicode|items.0.text"),
        ("{'items': [{'id': 'x', 'text': 'x', 'since': -1}]}", r"items\.0\.since: "),
        ("{'error': 'broken'}", "reported the error error: broken"),
        ("{'error': {'code': 7, 'message': None}}", "reported the error 7: None"),
    ],
)
async def test_malicious_answer_is_a_failed_request(tmp_path: Path, answer: str, message: str) -> None:
    body = f"def answer(request):\n    made = {answer}\n    return made\nserve(answer)"
    async with written_server(tmp_path, body) as server:
        with pytest.raises(ServerFailed, match=message):
            await server.read("a", "apple", 5)
        assert (await server.hello()).name == "x"


async def test_error_that_may_be_repeated_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PAUSE_S", 0.01)
    body = """
seen = []
def answer(request):
    seen.append(request["op"])
    busy = request["op"] == "write" or 0 < seen.count("read") < 3
    return {"error": {"code": "busy", "message": "later", "again": True}} if busy else {"notes": str(seen)}
serve(answer)"""
    async with written_server(tmp_path, body) as server:
        await server.reset("a")
        with pytest.raises(ServerFailed, match="busy: later"):
            await server.write("a", 1, [sent(1, "apple")])
        assert (await server.read("a", "apple", 5)).notes == str(["reset", *["write"] * 4, *["read"] * 3])


async def test_text_before_hello_ends_the_step_with_the_text(tmp_path: Path) -> None:
    async with written_server(tmp_path, "print('Loading model', flush=True)\nserve(dict)") as server:
        with pytest.raises(
            ServerDown, match=r"not JSON: 'Loading model'. Write logs to stderr. Fix the server or"
        ):
            await server.hello()
        with pytest.raises(ServerDown, match="Loading model"):
            await server.read("a", "apple", 5)


async def test_program_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    async with written_server(tmp_path, "sys.exit('the key of the service is missing')") as server:
        with pytest.raises(
            ServerDown, match=r"ended with status 1. Its log .*echo.log ends with: .*key of the"
        ):
            await server.hello()


async def test_server_that_always_stops_is_given_up(tmp_path: Path) -> None:
    async with written_server(tmp_path, "serve(lambda request: os._exit(4))") as server:
        for _ in range(connection.STOPS // 2 - 1):
            with pytest.raises(ServerFailed, match="started again and failed again"):
                await server.read("a", "apple", 5)
        with pytest.raises(ServerDown, match="stopped 6 times without an answer"):
            await server.read("a", "apple", 5)


async def test_another_answer_to_hello_after_a_restart_ends_the_step(tmp_path: Path) -> None:
    greeted: list[Hello] = []
    async with echo_server(tmp_path, "unstable", greeted=greeted.append) as server:
        first = await server.hello()
        await server.transport.kill()
        with pytest.raises(ServerDown, match="answered `hello` differently after a restart"):
            await server.reset("a")
        assert greeted == [first]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-program", "x.py"], "cannot find the program 'no-such-program' on PATH"),
        (["./no-such-program"], "cannot find the program .*/no-such-program"),
        (["python3", "missing.py"], "cannot find the file .*/missing.py"),
    ],
)
async def test_command_that_cannot_be_run_names_the_setting(
    tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(BadSettings, match=rf"^{message}. Fix `command` of \[memories.echo\].$"):
        await connect(words, tmp_path).hello()


async def test_variable_that_is_not_set_names_the_setting(tmp_path: Path) -> None:
    server = connect(echo_command(), tmp_path, variables=("MEMFLOW_TEST_NO_KEY",))
    with pytest.raises(
        BadSettings, match=r"variable MEMFLOW_TEST_NO_KEY is not set.*remove it from `variables`"
    ):
        await server.hello()


async def test_hello_passes_settings_and_seed(tmp_path: Path) -> None:
    body = "HELLO = True\nserve(lambda request: {'name': 'x', 'version': '1', 'settings': request})"
    async with written_server(tmp_path, body, settings={"grain": "turn"}, seed=7, limits=LIMITS) as server:
        hello = await server.hello()
    given = {name: hello.settings[name] for name in ("protocol", "endpoints", "seed", "settings")}
    assert given == {"protocol": 1, "endpoints": {}, "seed": 7, "settings": {"grain": "turn"}}
