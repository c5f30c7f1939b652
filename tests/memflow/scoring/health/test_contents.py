"""Reads of a memory server without an export: its entries begin when a read first returned them."""

from unittest.mock import Mock

import pytest

from memflow.memories.server.protocol import Capabilities
from memflow.scoring.health.contents import future_entries
from memflow.scoring.health.observations import EpisodeObservation
from memflow.scoring.health.states import FAULTY


@pytest.mark.parametrize(("export", "is_faulty"), [("none", False), ("live", True)])
def test_item_that_a_later_read_made_an_entry_is_of_the_future_only_with_an_export(
    export: str, is_faulty: bool
) -> None:
    read = Mock(probe_id="p", sequence=3, recalled=("unstored:memory:a",))
    entry = Mock(item_id="a", since=7, until=None, sources=(), future=False)
    episode = EpisodeObservation("e", [], {"memory-1": entry}, [read], server=Capabilities(export=export))
    assert (future_entries([episode], Mock()).state == FAULTY) is is_faulty
