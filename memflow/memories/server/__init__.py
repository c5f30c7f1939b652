"""Memories that run as servers: programs of any language, in an environment of their own."""
