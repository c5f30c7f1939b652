"""End the servers that a killed supervisor left behind, after a check that their processes are still the same.

A process id means nothing after the system has used it again. A process is taken for a replica only if the boot is the
same, and the recorded process still has its start time, or no process has the recorded id and others are in its session
(an id is not used again while a session has it).
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from resources.vllm_servers.supervisor import KILL_S, TERM_S, boot_id, process_start


def end_leftovers(state: Mapping[str, Any]) -> list[int]:
    """End the processes of the replicas in a state whose supervisor has ended. Return their ids."""
    if sys.platform != "linux" or not state.get("boot") or state["boot"] != boot_id():
        return []
    found = [pid for each in state.get("replicas", ()) for pid in processes_of(each["pid"], each["start"])]
    if not found:
        return []
    logging.getLogger("memflow").warning(
        "a vLLM server was left behind by a process that was killed; ending its processes %s",
        ", ".join(map(str, found)),
    )
    since = {pid: process_start(pid) for pid in found}
    for number, patience in ((signal.SIGTERM, TERM_S), (signal.SIGKILL, KILL_S)):
        until = time.monotonic() + patience
        for pid in found:
            if process_start(pid) == since[pid] != "":
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        while any(process_start(pid) == start != "" for pid, start in since.items()):
            if time.monotonic() > until:
                break
            time.sleep(0.05)
    return found


def processes_of(leader: int, start: str) -> list[int]:
    """Return the living processes of a session whose leader had the id `leader` and started at `start`."""
    if leader <= 1 or not start:
        return []
    now = process_start(leader)
    if now and now != start:
        return []  # another process has the id
    members = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and _session(folder) == leader and process_start(int(folder.name)):
            members.append(int(folder.name))
    return sorted(members)


def _session(folder: Path) -> int:
    try:
        return int((folder / "stat").read_bytes().rpartition(b")")[2].split()[3])
    except (OSError, ValueError, IndexError):
        return -1
