"""The digest of a request."""

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


def test_request_digest_ignores_prompt_name_and_fields() -> None:
    same = replace(REQUEST, prompt="b/prompt", fields={"y": 2})
    assert same.digest("model") == REQUEST.digest("model")


def test_output_schema_requires_all_properties_and_forbids_others() -> None:
    schema = schema_of(Answer)
    assert schema["required"] == ["first", "second"]
    assert schema["additionalProperties"] is False
