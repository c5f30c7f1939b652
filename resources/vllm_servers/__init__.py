"""Started vLLM servers: their commands, the process that supervises them, and the leases of their users.

resources/vllm.py is the interface. supervisor.py runs in a process of its own.
"""
