"""Chats that assistants export, converted to messages of own dialogues.

The formats are those of the data exports of ChatGPT (`conversations.json`, a tree of messages for each conversation)
and of Claude (`conversations.json`, a list of messages, in newer exports with parents).
"""
