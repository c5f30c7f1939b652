"""`export keys`: the gold labels of a domain as a file that other domains can import."""

from collections import Counter

from memflow.benchmarks.comem.annotation.label_file import format_label_file
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import ExportedFile, Note, Part, Reader, Table, stored_rows
from memflow.errors import BadInput

MOST_REASONS = 10


def export_file(reader: Reader, domain: Domain) -> ExportedFile:
    """Return the gold labels of a domain. Raises BadInput if there is none that can be written."""
    labels = reader.rows("question.keys", domain.name)
    records = stored_rows(reader, "raw.records", domain.datasets)
    made = format_label_file(domain, load_contexts(domain, records), labels, reader.models)
    if not made.questions:
        reason = next(iter(made.left_out.values()), "it has none")
        raise BadInput(f"no gold label of {domain.name} can be written: {reason}")
    reasons = Counter(made.left_out.values()).most_common(MOST_REASONS)
    parts: list[Part] = [
        Note(f"the gold labels of {made.questions:,} questions of {domain.name} are written")
    ]
    if reasons:
        parts.append(Table(("questions", "reason"), [(n, why) for why, n in reasons], title="\nLeft out"))
    parts.append(
        Note(
            "To import them: the same domain with this file as one more data set, and "
            'keys = "imported" (docs/explanation/comem.md)'
        )
    )
    return ExportedFile(made.text, {"questions": made.questions, "left_out": dict(made.left_out)}, parts)
