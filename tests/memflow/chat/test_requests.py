"""requests.py: what the digest of a request rests on."""

from dataclasses import replace

from pydantic import BaseModel

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling, schema_of


class Answer(BaseModel):
    first: str
    second: str = "x"


class Turned(BaseModel):
    second: str = "x"
    first: str


REQUEST = ChatRequest("a/prompt", {"x": 1}, (ChatMessage("user", "hello"),), Sampling(), Answer)


def test_the_digest_rests_on_all_that_the_model_sees() -> None:
    others = [
        replace(REQUEST, messages=(ChatMessage("system", "hello"),)),
        replace(REQUEST, sampling=Sampling(temperature=1)),
        replace(REQUEST, output=None),
        replace(REQUEST, output=Turned),
        replace(REQUEST, attempt=1),
    ]
    digests = [request.digest("model") for request in (REQUEST, *others)] + [REQUEST.digest("other")]
    assert len(set(digests)) == len(digests)


def test_the_digest_does_not_rest_on_what_it_does_not_see() -> None:
    same = replace(REQUEST, prompt="b/prompt", fields={"y": 2})
    assert same.digest("model") == REQUEST.digest("model")


def test_the_schema_leaves_nothing_out() -> None:
    schema = schema_of(Answer)
    assert schema["required"] == ["first", "second"]
    assert schema["additionalProperties"] is False
