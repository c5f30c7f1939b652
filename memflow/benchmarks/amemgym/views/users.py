"""The command `memflow export users`, which writes the users of a domain in AMemGym's published format."""

from dataclasses import asdict

from memflow.benchmarks.amemgym.export import export_users
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import ExportedFile, Note, Part, Reader, Table
from memflow.errors import BadInput


def export_file(reader: Reader, domain: Domain) -> ExportedFile:
    """Return the users of a domain as a file. Raises BadInput if no user can be exported."""
    states = States(
        *(reader.rows(f"state.{name}", domain.name) for name in ("profiles", "variables", "changes"))
    )
    turns, probes = reader.rows("utterance.turns", domain.name), reader.rows("question.probes", domain.name)
    exported = export_users(states, turns, probes)
    if not exported.users:
        reason = exported.left_out[0].reason if exported.left_out else "the domain has no users"
        raise BadInput(
            f"cannot export any user of {domain.name}: {reason}. Rerun `memflow run --domain {domain.name}`."
        )
    counts = {
        "users": len(exported.users),
        "periods": sum(len(user["periods"]) for user in exported.users),
        "sessions": sum(len(period["sessions"]) for user in exported.users for period in user["periods"]),
        "questions": sum(len(user["qas"]) for user in exported.users),
        "options": sum(
            len(question["answer_choices"]) for user in exported.users for question in user["qas"]
        ),
    }
    omitted = [(item.user_id, item.question or "the whole user", item.reason) for item in exported.left_out]
    parts: list[Part] = [Table(tuple(counts), [tuple(counts.values())], title="Written")]
    if omitted:
        parts.append(Table(("user", "what", "reason"), omitted, title="\nLeft out"))
    parts.append(
        Note(
            "\nAs published, every period holds the changes of the whole run (update_cnts): show them to no agent."
        )
    )
    data = {**counts, "left_out": [asdict(item) for item in exported.left_out]}
    return ExportedFile(exported.text, data, parts)
