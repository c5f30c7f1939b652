"""The file format of a bundle: an evaluation with all that its verdicts are computed from, as a zip file.

The manifest has the SHA-256 of each member. The members are stored without compression in a fixed order, so that equal
contents give equal bytes: a reader that packs them again notices every changed byte.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import canonical_json
from memflow.records import Calibration, Probe, Reply
from memflow.scoring.verdict_file import VerdictFile, parse_verdicts

SUFFIX = ".zip"
FORMAT, VERSION = "memflow bundle", 1
MOST_BYTES = 256 * 2**20
MANIFEST, VERDICTS = "manifest.json", "verdicts.jsonl"
EPOCH = (1980, 1, 1, 0, 0, 0)
DAMAGE = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)
"""What zipfile raises for a damaged file."""


@dataclass(frozen=True)
class JudgeReply:
    """A judge's reply to the request with the hash `request` (memflow/judges/recorded.py)."""

    judge: str
    prompt: str
    request: str
    text: str
    end: Literal["answered", "cut", "loop"]


ROWS: Mapping[str, type] = {"replies.jsonl": Reply, "probes.jsonl": Probe, "judge_replies.jsonl": JudgeReply}
"""The row type of each member beside the verdicts; `probes.jsonl` is empty where texts may not be passed on."""
MEMBERS = (MANIFEST, VERDICTS, *ROWS)


class Manifest(BaseModel):
    """The member `manifest.json`: what an evaluation stands on, beside the header of its verdicts.

    By name, `data` has the content hashes of data sets, `licenses` their licenses, `probes` the hashes of probes
    (`probes_digest`), `judges` the parameters of their requests, `packages` versions, `members` the SHA-256 of each.
    `prompts` has the sections of judge prompts by `name@digest`, `settings` the metadata of the verdicts. The file also
    has `sha256`, of these fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = FORMAT
    version: int = VERSION
    domain: Domain
    data: dict[str, str]
    licenses: dict[str, str]
    probes: dict[str, str]
    judges: dict[str, list[dict[str, Any]]]
    prompts: dict[str, list[tuple[str, str]]]
    calibrations: list[Calibration]
    packages: dict[str, str]
    settings: dict[str, str]
    labels: list[str]
    members: dict[str, str] = {}


@dataclass(frozen=True)
class Bundle:
    """The content of a bundle, and the SHA-256 of the file."""

    sha256: str
    manifest: Manifest
    verdicts: VerdictFile
    replies: Sequence[Reply]
    probes: Sequence[Probe]
    judge_replies: Sequence[JudgeReply]


def write_bundle(manifest: Manifest, verdicts: str, *tables: Iterable[Any]) -> bytes:
    """Return the bytes of a bundle, given the text of the verdict file and the rows in the order of ROWS."""
    tables_as_json_lines = ["".join(f"{json.dumps(asdict(row))}\n" for row in rows) for rows in tables]
    texts = [verdicts, *tables_as_json_lines]
    members = {name: text.encode() for name, text in zip(MEMBERS[1:], texts, strict=True)}
    values = manifest.model_dump(mode="json")
    values["members"] = {name: _sha256(content) for name, content in members.items()}
    values["sha256"] = _sha256(canonical_json(values).encode())
    return _pack({MANIFEST: json.dumps(values, indent=1).encode(), **members})


def read_bundle(content: bytes, name: str) -> Bundle:
    """Return the content of a bundle. Raises BadInput with the name, the changed member, and what to do."""
    members = _unpack(content, name)
    try:
        values = json.loads(members[MANIFEST])
        stated_hash = values.pop("sha256")
        file_format = (values["format"], values["version"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _refused(name, f"{MANIFEST} was changed") from error
    if file_format != (FORMAT, VERSION):
        raise BadInput(
            f"{name} has the format and version {file_format!r:.100}, and this memflow reads {(FORMAT, VERSION)}. Read "
            "it with the version of memflow that wrote it, or ask for a bundle of this version."
        )
    if stated_hash != _sha256(canonical_json(values).encode("utf-8", "surrogatepass")):
        raise _refused(name, f"{MANIFEST} was changed")
    for member in MEMBERS[1:]:
        if values["members"].get(member) != _sha256(members[member]):
            raise _refused(name, f"{member} was changed")
    if _pack(members) != content:
        raise _refused(name, "the directory of the zip file was changed")
    try:
        tables: list[Any] = []
        for member, row_type in ROWS.items():
            lines = members[member].decode(errors="replace").split("\n")[:-1]
            tables.append([TypeAdapter(row_type).validate_json(line) for line in lines])
        verdicts = parse_verdicts(members[VERDICTS].decode(errors="replace"), f"{VERDICTS} in {name}")
        return Bundle(_sha256(content), Manifest.model_validate(values), verdicts, *tables)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise _refused(name, f"{error.title} has a field of another form: {field}: {fault['msg']}") from error


def _unpack(content: bytes, name: str) -> dict[str, bytes]:
    """Return the content of each member by name. Raises BadInput unless each is there once, uncompressed, alone."""
    if len(content) > MOST_BYTES:
        raise _refused(name, f"it has more than {MOST_BYTES // 2**20} MiB")
    try:
        archive = zipfile.ZipFile(BytesIO(content))
    except DAMAGE as error:
        raise _refused(name, f"it is truncated or no zip file ({error})") from error
    names = [info.filename for info in archive.infolist()]
    if foreign_members := {*names} - {*MEMBERS}:
        raise _refused(name, f"{min(foreign_members)!a:.100} belongs to no bundle")
    members = {}
    for member in MEMBERS:
        if names.count(member) != 1:
            raise _refused(name, f"{member} is missing" if member not in names else f"it has two {member}")
        if archive.getinfo(member).compress_type != zipfile.ZIP_STORED:
            raise _refused(name, f"{member} is compressed")
        try:
            members[member] = archive.read(member)
        except DAMAGE as error:
            raise _refused(name, f"{member} was changed") from error
    return members


def _refused(name: str, reason: str) -> BadInput:
    return BadInput(
        f"{name} is no unchanged bundle: {reason}. Get the file again, or write one with `memflow export bundle`."
    )


def _pack(members: Mapping[str, bytes]) -> bytes:
    """Return the zip file of the members. Equal members have the same bytes on every machine."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in MEMBERS:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = 0o644 << 16  # file permissions
            archive.writestr(entry, members[name])
    return buffer.getvalue()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
