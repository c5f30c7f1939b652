"""HaluMem's published aggregation (eval/evaluation.py at 59402b9), on records with the published fields.

It keeps what is doubtful in it: an inclusion counts only as the string "true" or "True", a verdict that failed counts
in `(all)` and not in `(valid)`, figures by type share one denominator, and a group without records is a
ZeroDivisionError, with which the published code ends without any figure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.halumem.load import INTERFERENCE
from memflow.benchmarks.halumem.names import ANSWER, UPDATE_RESULTS

GROUPS = (
    "memory_integrity_records",
    "memory_accuracy_records",
    "memory_update_records",
    "question_answering_records",
)
TYPES = ("Event Memory", "Persona Memory", "Relationship Memory")
Record = Mapping[str, Any]
Records = Mapping[str, Sequence[Record]]


def published_summary(records: Records) -> dict[str, Any]:
    """Return the summary of all records, with the published keys. Raises ZeroDivisionError if a group is empty."""
    integrity, accuracy, update, answers = (records[name] for name in GROUPS)
    points = [row for row in integrity if row["memory_source"] != INTERFERENCE]
    false = [row for row in integrity if row["memory_source"] == INTERFERENCE]
    summary: dict[str, Any] = {"memory_integrity": _recall(points)}
    summary["memory_accuracy"] = {**_resistance(false), **_accuracy(accuracy)}
    summary["memory_extraction_f1"] = _f1(summary)
    summary["memory_update"] = _results(update, "memory_update_type", UPDATE_RESULTS, "update_memory")
    summary["question_answering"] = _results(answers, "result_type", ANSWER, "qa")
    summary["memory_type_accuracy"] = _by_type(integrity, update)
    return summary


def _recall(points: Sequence[Record]) -> dict[str, Any]:
    valid = [row for row in points if row["memory_integrity_score"] is not None]
    full = sum(row["memory_integrity_score"] == 2 for row in valid)
    weighted: float = 0
    for row in valid:
        weighted += 0.5 * row["memory_integrity_score"] * row["importance"]
    weights, all_weights = (sum(row["importance"] for row in rows) for rows in (valid, points))
    return {
        "recall(all)": full / len(points),
        "recall(valid)": full / len(valid),
        "weighted_recall(all)": weighted / all_weights,
        "weighted_recall(valid)": weighted / weights,
        "memory_valid_importance_sum": weights,
        "memory_importance_sum": all_weights,
        "memory_valid_num": len(valid),
        "memory_num": len(points),
    }


def _resistance(false: Sequence[Record]) -> dict[str, Any]:
    valid = [row for row in false if row["memory_integrity_score"] is not None]
    resisted = sum(row["memory_integrity_score"] == 0 for row in valid)
    return {
        "interference_accuracy(all)": resisted / len(false),
        "interference_accuracy(valid)": resisted / len(valid),
        "interference_memory_valid_num": len(valid),
        "interference_memory_num": len(false),
    }


def is_included(row: Record) -> bool:
    """Return whether a text counts as included, as published: a JSON boolean does not."""
    flag = row["is_included_in_golden_memories"]
    return isinstance(flag, str) and flag in ("true", "True")


def _accuracy(rows: Sequence[Record]) -> dict[str, Any]:
    target = [row for row in rows if is_included(row)]
    valid, valid_target = (
        [row for row in part if row["memory_accuracy_score"] is not None] for part in (rows, target)
    )
    total, target_total = (
        sum(0.5 * row["memory_accuracy_score"] for row in part) for part in (valid, valid_target)
    )
    return {
        "target_accuracy(all)": target_total / len(target),
        "target_accuracy(valid)": target_total / len(valid_target),
        "target_memory_valid_num": len(valid_target),
        "target_memory_num": len(target),
        "weighted_accuracy(all)": total / len(rows),
        "weighted_accuracy(valid)": total / len(valid),
        "memory_valid_num": len(valid),
        "memory_num": len(rows),
    }


def _f1(summary: Mapping[str, Any]) -> float:
    precision = summary["memory_accuracy"]["target_accuracy(all)"]
    recall = summary["memory_integrity"]["recall(all)"]
    return float(2 * precision * recall / (precision + recall))


def _results(rows: Sequence[Record], field: str, results: Mapping[str, str], name: str) -> dict[str, Any]:
    valid = [row for row in rows if row[field] in results]
    ratios = {}
    for result in results:
        count = sum(row[field] == result for row in valid)
        ratios[f"{result.lower()}_{name}_ratio(all)"] = count / len(rows)
        ratios[f"{result.lower()}_{name}_ratio(valid)"] = count / len(valid)
    return {**ratios, f"{name}_valid_num": len(valid), f"{name}_num": len(rows)}


def _by_type(integrity: Sequence[Record], update: Sequence[Record]) -> dict[str, dict[str, float]]:
    found = {}
    for name in TYPES:
        points, updates = (
            [row for row in rows if row["memory_type"] == name] for rows in (integrity, update)
        )
        total = len(points) + len(updates)
        covered = sum(row["memory_integrity_score"] == 2 for row in points) / total
        updated = sum(row["memory_update_type"] == "Correct" for row in updates) / total
        found[name] = {
            "memory_integrity_acc": covered,
            "memory_update_acc": updated,
            "total_num": total,
            "memory_acc": covered + updated,
        }
    return found
