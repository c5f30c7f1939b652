"""Memory servers: how they are started and reached, the echo server, and the checks of `memflow memories check`.

The messages are in memflow/memories/server/protocol.py.
"""
