"""The repairs that need no run of the pipeline. Each returns nothing, and raises the error that prevented it."""

from collections.abc import Sequence
from pathlib import Path

from resources.lake.lake import Lake
from resources.publishing.outputs import publish, rebuild_index
from resources.repair.damages import Damage, Repair
from resources.settings.settings import Settings


def apply_repair(settings: Settings, lake: Lake, damage: Damage) -> None:
    """Repair a damage other than a damaged partition and the ledger."""
    if damage.repair is Repair.search_index:
        rebuild_index(settings, lake, damage.partition)
    elif damage.repair is Repair.database:
        publish(settings, lake)
    elif damage.repair is Repair.delete:
        Path(damage.path).unlink(missing_ok=True)


def repair_ledger(settings: Settings, damages: Sequence[Damage]) -> None:
    """Repair the rows of the ledger that can be repaired; nothing if no damage is of this kind."""
    from resources.ledger.sql_ledger import SqlLedger  # noqa: PLC0415
    from resources.ledger.verification import repair  # noqa: PLC0415

    if any(damage.repair is Repair.ledger for damage in damages):
        with SqlLedger(settings.ledger_url) as opened, opened.connect(transaction=True) as connection:
            repair(connection)
