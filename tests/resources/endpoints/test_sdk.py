"""Requests leave through the OpenAI SDK; proxies, certificates and Azure addresses give an answer or a sentence."""

import ssl
import subprocess
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web
from local_server import local_server
from stub import Stub, StubBehavior
from stub.odd_json import completion

from memflow.chat.conversation import EPISODE
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.errors import BadSettings, EndpointDown, ModelMisconfigured
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.model_check import requests_to
from memflow.resources.endpoints.profiles import Profile, profile_of
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.chat_models import Model

REQUEST = ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),))


async def complete(url: str, profile: Profile | None = None, **settings: Any) -> Completion:
    endpoint = Endpoint(url, profile=profile or Profile(), patience=0.1, **settings)
    async with OpenAIChat(url, "stub", "f", endpoint=endpoint, section="models.m") as chat:
        return await chat.complete(REQUEST)


async def embed(url: str, folder: Path) -> None:
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        async with EndpointEmbedder(url, "stub", ledger) as embedder:
            await embedder.embed(["a text"])


async def check(url: str) -> None:
    post = requests_to(Model(url=url, model="stub"))
    await post(Profile(), {"model": "stub", "messages": [{"role": "user", "content": "hello"}]})


async def test_chat_embedding_and_check_requests_carry_the_headers_of_the_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "an organization")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "a project")
    async with Stub() as stub:
        await complete(stub.url)
        await embed(stub.url, tmp_path)
        await check(stub.url)
        assert stub.counts.answered == len(stub.headers) == 3
        for headers in stub.headers:
            assert headers["User-Agent"] == f"AsyncOpenAI/Python {openai.__version__}"
            assert headers["X-Stainless-Lang"] == "python"
            assert not {"OpenAI-Organization", "OpenAI-Project"} & headers.keys()


async def test_repeated_requests_have_the_same_key() -> None:
    async with Stub(StubBehavior(behaviors="warming_up")) as stub:
        assert (await complete(stub.url)).text
        first, second = (headers["Idempotency-Key"] for headers in stub.headers)
        assert first == second


async def test_requests_of_a_conversation_carry_its_key_for_routers() -> None:
    async with Stub() as stub:
        await complete(stub.url)
        EPISODE.set("e1")
        await complete(stub.url)
        without, with_key = stub.headers
        assert with_key["X-Session-ID"] and "X-Session-ID" not in without


async def test_dated_address_of_azure_is_completed_by_the_sdk_for_azure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-azure")
    async with Stub(StubBehavior(provider="azure")) as stub:
        assert (await complete(stub.url, profile_of("azure"))).text
        (headers,) = stub.headers
        assert headers["User-Agent"].startswith("AsyncAzureOpenAI/Python") and "Authorization" not in headers
        assert headers["api-key"] == "a-key-of-azure"
        with pytest.raises(ModelMisconfigured, match="`memflow models check m`"):
            await complete(stub.url)


async def test_key_in_another_header_replaces_that_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "some-other-key")
    async with Stub() as stub:
        await complete(stub.url, Profile(auth="X-Key", headers={"X-More": "1"}, query={"v": "2"}))
        (headers,) = stub.headers
        assert (headers["X-Key"], headers["X-More"]) == ("some-other-key", "1")
        assert "Authorization" not in headers


@pytest.mark.parametrize("proxy", ["http://user:secret@127.0.0.1:1", "http://[", "socks9://127.0.0.1:1"])
async def test_unusable_proxy_is_named_with_its_variables(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises((EndpointDown, BadSettings), match=r"HTTP_PROXY or HTTPS_PROXY.*NO_PROXY") as caught:
        await complete("https://model.invalid/v1")
    assert "secret" not in str(caught.value)


async def test_proxy_that_demands_a_password_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deny(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=407)

    async with local_server(deny) as url:
        monkeypatch.setenv("https_proxy", url.removesuffix("/v1"))
        with pytest.raises(EndpointDown, match=r"407.*through the proxy http://127\.0\.0\.1.*NO_PROXY"):
            await complete("https://model.invalid/v1")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Return the files of a self-signed certificate of localhost and of its key."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    more = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *more], check=True, capture_output=True)
    return certificate, key


async def test_self_signed_certificate_is_refused_until_ssl_cert_file_names_it(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(completion({"content": "An answer."}))

    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(*certificate)
    async with local_server(answer, own) as address:
        url = address.replace("http://127.0.0.1", "https://localhost")
        with pytest.raises(EndpointDown, match=r"self-signed certificate.*Set SSL_CERT_FILE to a file"):
            await complete(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert (await complete(url)).text == "An answer."
