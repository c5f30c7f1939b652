"""vLLM servers: those that run at an address, and one per model that lives as long as `memflow run` or `memflow dev`.

servers.py is the interface. watchdog.py runs in a process of its own.
"""
