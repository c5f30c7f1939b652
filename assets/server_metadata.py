"""The metadata of a run about its servers: address, command and log of vLLM servers, unchecked memory servers."""

from typing import Any

import dagster as dg

from memflow.pipeline import Step
from memflow.repeats import memory_name
from resources.memory_servers.stored_checks import UNCHECKED
from resources.settings.settings import Settings
from resources.vllm_servers.servers import VllmServers


def server_metadata(step: Step, servers: VllmServers) -> dict[str, Any]:
    """Return the facts of each vLLM server that the process uses; empty for a step without models."""
    found = servers.facts() if step.models else {}
    facts = {f"vllm {name}": dg.MetadataValue.json(each) for name, each in found.items()}
    logs = {f"vllm {name} log": dg.MetadataValue.path(each["log"]) for name, each in found.items()}
    return facts | logs


def check_meta(settings: Settings, assistant: str) -> dict[str, str]:
    """Return the mark of an assistant whose memory server runs without a check, to store with its tables."""
    own = settings.memories.get(memory_name(assistant))
    return {"memory_check": UNCHECKED} if own is not None and own.is_server and own.unchecked else {}
