"""Opening the access of a partition's memory server: its chat model, its embedder, and what the server is given."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memflow.benchmarks.domains import RoleDecoding
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.memories.memory import Embedder
from memflow.repeats import request_repeat
from resources.endpoints.chat import OpenAIChat
from resources.model_proxy.access import ModelAccess
from resources.model_proxy.forwarding import ForwardingChat
from resources.model_proxy.scripted_answers import ScriptedAnswers

if TYPE_CHECKING:
    from resources.models.clients import Clients

ROLE = "memory"
"""The role and the stage under which the ledger records the requests of a memory server."""
OPENAI = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
"""The variables of OpenAI's clients, which belong together."""


async def open_access(
    clients: "Clients",
    account: RequestContext,
    assistant: str,
    decoding: Mapping[str, RoleDecoding],
    embedder: Embedder,
) -> ModelAccess:
    """Return the access of a memory server to the assistant's model, and to the embedder if one is chosen."""
    settings = clients.settings
    model = settings.model_of(assistant)
    inner = await clients.chat(model)
    chat = ForwardingChat(inner) if isinstance(inner, OpenAIChat) else ScriptedAnswers(inner)
    bound, sampling = decoding.get(ROLE, RoleDecoding()).applied(settings.bounds.of(ROLE), inner.sampling)
    context = replace(account, stage=ROLE, role=ROLE, model=model)
    repeat = request_repeat(assistant, ROLE)
    ledgered = LedgeredChat(chat, clients.ledger, context, bound, sampling, repeat)
    if settings.offers_embedder(assistant):
        return ModelAccess(ledgered, model, embedder, settings.embedder.name)
    return ModelAccess(ledgered, model)


def given_variables(access: ModelAccess, url: str, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return the variables for a server whose settings allow some of memflow's own, which take precedence."""
    given = access.variables(url)
    unused = {*allowed, *(OPENAI if {*OPENAI} & {*allowed} else ())}
    return {name: value for name, value in given.items() if name not in unused}


def reaches_loopback(url: str) -> bool:
    """Return whether a server at an address runs on this machine, so that it can use the proxy and may have its key."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
