"""Memory servers: how they are started and reached, and the checks of `memflow memories check`.

The messages are in memflow/memories/server/protocol.py.
"""
