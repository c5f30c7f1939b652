"""The scripted chat with a budget, for `memflow repair`, which uses only answers in the ledger.

A home whose models were given on the command line has other settings in a repair. There the scripted chat would replace
what a language model wrote.
"""

from collections.abc import Mapping

from memflow.chat.budget import Budget, Spending
from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.chat.scripted import Handler, ScriptedChat


class BudgetedScriptedChat(ScriptedChat):
    """A scripted chat whose answers count as calls of a budget."""

    def __init__(
        self, handlers: Mapping[str, Handler], *, name: str, sampling: Sampling, budget: Budget
    ) -> None:
        super().__init__(handlers, name=name, sampling=sampling)
        self.budget = budget

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the handler's answer. Raises BudgetSpent."""
        async with self.budget.admit(Spending(calls=1)):
            return await super().complete(request)
