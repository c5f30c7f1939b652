"""The GPUs of this machine: which are visible, which a replica gets, and their names, memory and driver."""

import os
import subprocess
from collections.abc import Sequence
from functools import cache

from memflow.errors import BadSettings

VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible_devices() -> tuple[str, ...] | None:
    """Return the ids of the devices that a started server would see; None if that is not known.

    CUDA_VISIBLE_DEVICES comes first, then nvidia-smi.
    """
    named = os.environ.get(VISIBLE)
    if named is not None:
        return tuple(each.strip() for each in named.split(",") if each.strip() not in ("", "-1"))
    rows = gpu_facts()
    return tuple(row["index"] for row in rows) if rows else None


def replica_devices(
    replicas: int, devices: int, gpus: Sequence[str], visible: Sequence[str] | None
) -> list[tuple[str, ...]]:
    """Return the devices of each replica; an empty tuple leaves CUDA_VISIBLE_DEVICES as it is.

    `gpus` are the lists of the settings, `devices` the number that each replica uses: consecutive groups by default.
    Raises BadSettings if more devices are needed than visible.
    """
    if gpus:
        groups = [device_list(each) for each in gpus]
        if visible is not None and (
            missing := [each for group in groups for each in group if each not in visible]
        ):
            raise BadSettings(
                f"`gpus` names the device {missing[0]}, and {_visible(visible)}. Fix `gpus` of the model in "
                "memflow.toml."
            )
        return groups
    if visible and len(visible) < replicas * devices:
        raise BadSettings(
            f"{replicas} replicas of {devices} devices need {replicas * devices}, and {_visible(visible)}. Lower "
            "`replicas`, `tensor_parallel` or `data_parallel` of the model in memflow.toml, or set `gpus` and "
            "`gpu_memory` so that replicas share a device."
        )
    if replicas == 1:
        return [()]
    ids = visible or [str(number) for number in range(replicas * devices)]
    return [tuple(ids[number * devices : (number + 1) * devices]) for number in range(replicas)]


def device_list(group: str) -> tuple[str, ...]:
    """Return the devices in a text such as `0,1`."""
    return tuple(each.strip() for each in group.split(",") if each.strip())


def _visible(visible: Sequence[str]) -> str:
    return f"visible are {', '.join(visible)}" if visible else f"{VISIBLE} hides all devices"


@cache
def gpu_facts() -> tuple[dict[str, str], ...]:
    """Return index, name, memory and driver of each NVIDIA GPU; none without nvidia-smi."""
    query = ["nvidia-smi", "--query-gpu=index,name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        shown = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [[cell.strip() for cell in line.split(",")] for line in shown.splitlines() if line.strip()]
    names = ("index", "name", "memory", "driver")
    return tuple(dict(zip(names, row, strict=True)) for row in rows if len(row) == len(names))
