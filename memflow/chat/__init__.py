"""Requests to chat models: prompts.py, requests.py, bounds.py, asking.py, ledger.py and the scripted chats.

Clients that use a network are in resources/; prompt texts are beside the benchmarks and memories.
"""
