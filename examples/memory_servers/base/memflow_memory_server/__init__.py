"""A memory server for memflow: subclass MemoryServer, implement four methods, and call `run`.

This package uses the standard library only, so that it fits into the environment of any memory library.
"""

from memflow_memory_server.server import Failed, ForgetRequest, MemoryServer, Message, Unsupported, item
from memflow_memory_server.service import JsonService, wait_until
from memflow_memory_server.transports import run

__all__ = [
    "Failed",
    "ForgetRequest",
    "JsonService",
    "MemoryServer",
    "Message",
    "Unsupported",
    "item",
    "run",
    "wait_until",
]
