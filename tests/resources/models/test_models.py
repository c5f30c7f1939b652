"""The chat models of the settings by role, and the tools of memories."""

from contextlib import closing
from pathlib import Path

import pytest

from memflow.chat.budget import Budget
from memflow.chat.ledger import RequestContext
from memflow.errors import BadSettings
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import load


def test_memory_tools_reject_a_language_model_without_a_chosen_embedder(tmp_path: Path) -> None:
    model = {"url": "http://127.0.0.1:9/v1", "model": "a/small"}
    settings = load(over={"home": tmp_path, "models": {"small": model}})
    context = RequestContext("run", "memory")
    with closing(Models(settings, SqlLedger(settings.ledger_url))) as models:
        assert models.run(context, lambda chats: chats.tools("full@small")).embedder is not None
        assert models.run(context, lambda chats: chats.tools("embed_message")).embedder is not None
        with pytest.raises(BadSettings, match="by embeddings: embed_message@small"):
            models.run(context, lambda chats: chats.tools("embed_message@small"))


def test_budget_of_cost_refuses_a_model_without_a_price(tmp_path: Path) -> None:
    models = {
        "local": {"url": "http://127.0.0.1:9/v1", "model": "a/small"},
        "free": {"url": "http://127.0.0.1:9/v1", "model": "a/small", "price_in": 0},
    }
    settings = load(over={"home": tmp_path, "models": models})
    context = RequestContext("run", "answer")
    with closing(Models(settings, SqlLedger(settings.ledger_url), Budget(cost=1.0))) as opened:
        opened.run(context, lambda chats: chats.tools("full@free"))
        with pytest.raises(BadSettings, match="the model a/small has no price"):
            opened.run(context, lambda chats: chats.tools("full@local"))
