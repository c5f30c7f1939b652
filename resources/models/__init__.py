"""The models of a process: one event loop, the clients on it, one ledger. The HTTP requests are in endpoints/."""
