"""The digest of a request."""

from dataclasses import asdict, replace

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling, schema_digest, schema_of
from memflow.fingerprint import digest


class Answer(BaseModel):
    first: str
    second: str = "x"


class Turned(BaseModel):
    second: str = "x"
    first: str


REQUEST = ChatRequest("a/prompt", {"x": 1}, (ChatMessage("user", "hello"),), Sampling(), Answer)


def test_request_digest_changes_with_every_part_of_the_model_input() -> None:
    others = [
        replace(REQUEST, messages=(ChatMessage("system", "hello"),)),
        replace(REQUEST, sampling=Sampling(temperature=1)),
        replace(REQUEST, output=None),
        replace(REQUEST, output=Turned),
        replace(REQUEST, attempt=1),
    ]
    digests = [request.digest("model") for request in (REQUEST, *others)] + [REQUEST.digest("other")]
    assert len(set(digests)) == len(digests)


def test_repeat_changes_the_digest_and_the_seed_and_the_first_evaluation_neither() -> None:
    assert REQUEST.of_repeat(1) is REQUEST
    digests = [REQUEST.of_repeat(number).digest("model") for number in (1, 2, 3)]
    assert digests[0] == REQUEST.digest("model") and len(set(digests)) == 3
    assert REQUEST.of_repeat(2).sampling.seed is None
    seeded = replace(REQUEST, sampling=Sampling(seed=7))
    assert [seeded.of_repeat(number).sampling.seed for number in (1, 2, 3)] == [7, 8, 9]
    assert seeded.of_repeat(2).of_repeat(2).sampling.seed == 8


def test_digests_of_ledgers_without_repeats_stay_valid() -> None:
    """The digest is that of memflow before repeats: ledgers of earlier versions are still used."""
    messages = (ChatMessage("system", "s"), ChatMessage("user", "What?"))
    request = ChatRequest("answer", {"a": 1}, messages, Sampling(0.5, 0.9, 64, 7), None, 1)
    assert request.digest("model-fingerprint") == "670700db96cf76cf4caf2efa57e5b4ff"


def test_request_digest_ignores_prompt_name_and_fields() -> None:
    same = replace(REQUEST, prompt="b/prompt", fields={"y": 2})
    assert same.digest("model") == REQUEST.digest("model")


def test_output_schema_requires_all_properties_and_forbids_others() -> None:
    schema = schema_of(Answer)
    assert schema["required"] == ["first", "second"]
    assert schema["additionalProperties"] is False


@given(text=st.text(), attempt=st.integers(0, 3), seed=st.none() | st.integers())
def test_digest_is_that_of_the_parts_as_json(text: str, attempt: int, seed: int | None) -> None:
    """Recorded completions are found by it, so it must not change."""
    sampling = Sampling(temperature=0.5, seed=seed)
    request = ChatRequest("p", {}, (ChatMessage("user", text),), sampling, Answer, attempt)
    parts = ("model", [["user", text]], asdict(sampling), schema_digest(Answer), attempt)
    assert request.digest("model") == digest(*parts)


def test_digest_of_a_known_request_is_stable() -> None:
    assert REQUEST.digest("model") == "967b03e7fdb4ff9588de3d0d5ecaa379"
