"""The modes in which a memory server is read as of a checkpoint, and the capabilities that each needs."""

from memflow.errors import BadSettings
from memflow.memories.server.protocol import Capabilities, Hello

MODES = AUTO, AS_OF, RESTORE, ASK_AT_ONCE = "auto", "as_of", "restore", "ask_at_once"
PREFERRED = (AS_OF, RESTORE)
"""The modes that `auto` prefers to asking at once, best first."""


def missing_capability(mode: str, capabilities: Capabilities) -> str:
    """Return the declaration that a mode needs and the server lacks; empty if the mode is possible."""
    requirements = {
        AS_OF: [
            (capabilities.as_of == "writes", f'`as_of: "writes"` (it declares "{capabilities.as_of}")'),
            (
                capabilities.pure_reads,
                "`pure_reads: true`, since a read as of an earlier write would change the present",
            ),
            (
                not capabilities.spaces or capabilities.deterministic,
                "`spaces: 0` or `deterministic: true`, since the spaces of played episodes are read later",
            ),
        ],
        RESTORE: [
            (capabilities.restore, "`restore: true`"),
            (capabilities.export != "none", '`export: "live"` or "history"'),
            (capabilities.pure_reads, "`pure_reads: true`, since many questions read one restored space"),
        ],
    }
    return next((declaration for supported, declaration in requirements.get(mode, ()) if not supported), "")


def choose_mode(mode: str, hello: Hello) -> str:
    """Return the mode to use with a server. Raises BadSettings for a mode that the server does not support."""
    if mode == AUTO:
        return next((name for name in PREFERRED if not missing_capability(name, hello.can)), ASK_AT_ONCE)
    if missing := missing_capability(mode, hello.can):
        raise BadSettings(
            f"the memory server {hello.name} {hello.version} cannot be used with mode = {mode!r}: it lacks the "
            f"capability {missing}. Set mode = {AUTO!r} or {ASK_AT_ONCE!r} in memflow.toml."
        )
    return mode
