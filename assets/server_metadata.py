"""The metadata of a run about the vLLM servers that it used, such as addresses, GPUs, start-up time and log."""

from typing import Any

import dagster as dg

from memflow.pipeline import Step
from resources.vllm_servers.servers import VllmServers


def server_metadata(step: Step, servers: VllmServers) -> dict[str, Any]:
    """Return the facts of each vLLM server that the process uses; empty for a step without models."""
    found = servers.facts() if step.models else {}
    facts = {f"vllm {name}": dg.MetadataValue.json(each) for name, each in found.items()}
    logs = {
        f"vllm {name} log": dg.MetadataValue.path(replica["log"])
        for name, each in found.items()
        for replica in each.get("replicas", [])[:1]
    }
    return facts | logs
