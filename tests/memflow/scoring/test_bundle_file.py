"""The file format of bundles: changed bytes are refused with their member, malicious and foreign files too."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import factories
import pytest

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import canonical_json
from memflow.scoring import bundle_file
from memflow.scoring.bundle_file import (
    EPOCH,
    MANIFEST,
    MEMBERS,
    VERDICTS,
    JudgeReply,
    Manifest,
    read_bundle,
    write_bundle,
)
from memflow.scoring.verdict_file import Evaluated, probes_digest, verdict_text

PROBE = factories.probe(probe_id="ada/1", episode_id="ada", question="Tea\u2028or coffee?", gold="tea")
MANIFEST_VALUES = {
    "domain": Domain("tea", "dialogues", ("sample",), "Tea", {"k": 5}),
    "data": {"sample": "1" * 32},
    "licenses": {"sample": "MIT"},
    "probes": {"ada/1": probes_digest([PROBE])},
    "judges": {"judge": [{"temperature": 0.0}]},
    "prompts": {"tea/judge@12345678": [("user", "Is $answer tea?")]},
    "calibrations": [],
    "packages": {"numpy": "2"},
    "settings": {"k": "5"},
    "labels": ["real"],
}


def content() -> bytes:
    header = Evaluated(
        memflow="1", benchmark="dialogues", domain="tea", assistant="full", model="m", scripted=False, inputs={},
        settings={}, probes=probes_digest([PROBE]), health=None,
    )  # fmt: skip
    verdicts = [factories.verdict(probe_id="ada/1", episode_id="ada", metric="f1", value=0.5)]
    return write_bundle(
        Manifest(**MANIFEST_VALUES),
        verdict_text(header, verdicts, {"all": frozenset({"ada/1"})}),
        [factories.reply(probe_id="ada/1", text="tea, \u00e9 \U0001f375")],
        [PROBE],
        [JudgeReply("judge", "tea/judge", "2" * 32, "yes", "answered")],
    )


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED, twice: str = "") -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", method) as archive:
        for name in (*members, *filter(None, [twice])):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type, info.create_system, info.external_attr = method, 3, 0o644 << 16
            archive.writestr(info, members[name])
    return buffer.getvalue()


def signed(**changes: object) -> bytes:
    """Return a bundle with changed fields of the manifest and a right hash."""
    of = members(content())
    values = {**json.loads(of[MANIFEST]), **changes}
    del values["sha256"]
    values["sha256"] = bundle_file._sha256(canonical_json(values).encode())
    return packed({**of, MANIFEST: json.dumps(values).encode()})


def test_bundle_contains_what_was_written_and_equal_contents_give_equal_bytes() -> None:
    bundle = read_bundle(content(), "tea.zip")
    assert bundle.manifest.model_dump(exclude={"members", "format", "version"}) == Manifest(
        **MANIFEST_VALUES
    ).model_dump(exclude={"members", "format", "version"})
    assert bundle.probes == [PROBE] and bundle.replies[0].text == "tea, \u00e9 \U0001f375"
    assert [line.value for line in bundle.verdicts.lines] == [0.5]
    assert content() == content() == packed(members(content()))


def places(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield some positions, each with the member whose content is there, or an empty name."""
    for name, of_member in members(content).items():
        start = content.index(of_member)
        yield from ((start + at, name) for at in range(0, len(of_member), 11))
    yield from ((at, "") for at in range(len(content) - 400, len(content)))  # the directory of the zip file
    yield from ((at, "") for at in range(30))  # the header of a member


def test_every_changed_byte_is_refused_with_the_changed_member() -> None:
    whole = content()
    for place, member in places(whole):
        changed = bytearray(whole)
        changed[place] ^= 1
        with pytest.raises(BadInput, match=f"tea.zip is no unchanged bundle: {member}"):
            read_bundle(bytes(changed), "tea.zip")


def without(name: str) -> bytes:
    return packed({member: text for member, text in members(content()).items() if member != name})


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (lambda: b"", "it is truncated or no zip file"),
        (lambda: content()[:-30], "it is truncated or no zip file"),
        (lambda: content() + b"more", "the directory of the zip file was changed"),
        (lambda: without("replies.jsonl"), "replies.jsonl is missing"),
        (lambda: without(MANIFEST), "manifest.json is missing"),
        (lambda: packed({**members(content()), "../../x": b"x"}), r"'../../x' belongs to no bundle"),
        (lambda: packed({**members(content()), "/etc/x\x1b": b"x"}), r"'/etc/x\\x1b' belongs to no bundle"),
        (lambda: packed(members(content()), twice=VERDICTS), "it has two verdicts.jsonl"),
        (
            lambda: packed({**members(content()), MANIFEST: b"0" * 10_000_000}, zipfile.ZIP_DEFLATED),
            "manifest.json is compressed",
        ),
        (lambda: signed(members={}), "verdicts.jsonl was changed"),
        (lambda: signed(more=1), "Manifest has a field of another form: more: Extra inputs"),
        (lambda: signed(probes=3), "Manifest has a field of another form: probes: Input"),
        (lambda: packed({**members(content()), MANIFEST: b"[" * 100_000}), "manifest.json was changed"),
        (lambda: packed({**members(content()), MANIFEST: b"[]"}), "manifest.json was changed"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_unusable_file_is_refused_with_the_reason(file, reason: str) -> None:
    with pytest.raises(BadInput, match=f"tea.zip is no unchanged bundle: {reason}.*Get the file again"):
        read_bundle(file(), "tea.zip")


@pytest.mark.parametrize("changes", [{"version": 2}, {"format": "other"}])
def test_another_format_or_version_is_named_with_what_to_do(changes: dict[str, Any]) -> None:
    found = {"format": "memflow bundle", "version": 1, **changes}
    stated = re.escape(f"tea.zip has the format and version {tuple(found.values())}, and this memflow reads")
    with pytest.raises(BadInput, match=stated + ".* the version of memflow that wrote it"):
        read_bundle(signed(**changes), "tea.zip")


def test_larger_file_than_a_bundle_may_be_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_file, "MOST_BYTES", 2**20)
    with pytest.raises(BadInput, match="it has more than 1 MiB"):
        read_bundle(b"0" * (2**20 + 1), "tea.zip")
    assert set(members(content())) == {*MEMBERS}
