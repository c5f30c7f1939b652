"""Prompt files: front matter that declares a prompt, then its messages.

    ---
    name: BENCHMARK/answer        # folder and file name, so that a prompt is found by its name
    fields: [question, options]   # every $field of the text, no more and no less
    unused: []                    # optional: fields that the text does not use
    untrusted: [question]         # optional: fields with texts of another model, which are fenced (fences.py)
    output: ChoiceAnswer          # a class of the `answers` module beside the prompts folder; none for free text
    language: en
    max_tokens: 64                # optional: see below; temperature and usual_tokens: optional as well
    ---
    # system
    ...
    # history
    # user
    ... $question ... $$5 ...

`max_tokens` is the least bound on the answer. It is stated where the output type is safely shorter, or for text where a
published experiment has that limit; [token_limits.ROLE] in memflow.toml raises it. Without it, an answer has 8,192
tokens.
`usual_tokens` is the length of a real model's answers, for forecasts.

`# history` is replaced by the messages of the conversation. A section that is empty after filling is omitted.
Python modules contain no prompt text, and prompts contain no code. A user's files replace prompts (replacements.py).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from string import Template
from typing import Any, Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from memflow.chat.fences import layout, mark_of
from memflow.chat.replacements import PromptFile, replacement
from memflow.chat.requests import ChatMessage, Role
from memflow.errors import PromptError
from memflow.fingerprint import digest

_CHINESE = "_zh"
_SECTION = re.compile(r"^# (system|user|assistant|history)[ \t]*$", re.MULTILINE)


class _FrontMatter(BaseModel):
    """The front matter of a prompt file."""

    model_config = ConfigDict(extra="forbid")

    name: str
    fields: list[str]
    unused: list[str] = []
    untrusted: list[str] | None = None
    output: str | None = None
    language: Literal["en", "zh"] = "en"
    max_tokens: int | None = None
    temperature: float | None = None
    usual_tokens: int = 0


@dataclass(frozen=True)
class Prompt:
    """A parsed prompt file. `digest` is the content hash of text and front matter."""

    name: str
    fields: tuple[str, ...]
    output: type[BaseModel] | None
    language: str
    max_tokens: int | None
    temperature: float | None
    sections: tuple[tuple[str, str], ...]
    digest: str
    usual_tokens: int = 0
    untrusted: tuple[str, ...] = ()
    """The fields with texts of another model, which are fenced."""

    def render(
        self, fields: Mapping[str, Any], history: Sequence[ChatMessage] = ()
    ) -> tuple[ChatMessage, ...]:
        """Return the messages with all fields filled in. Raises PromptError for missing or unknown fields."""
        if fields.keys() != set(self.fields):
            missing_fields = [name for name in self.fields if name not in fields]
            unknown_fields = [name for name in fields if name not in self.fields]
            differences = ", ".join(
                [f"missing {name}" for name in missing_fields]
                + [f"unknown {name}" for name in unknown_fields]
            )
            raise PromptError(
                f"the fields passed to prompt {self.name} differ from the declared {list(self.fields)}: {differences}. "
                "Fix the call."
            )
        mark = mark_of(fields[name] for name in self.untrusted) if self.untrusted else ""
        texts = {
            name: layout(value, mark if name in self.untrusted else "") for name, value in fields.items()
        }
        messages: list[ChatMessage] = []
        for role, text in self.sections:
            if role == "history":
                messages.extend(history)
            elif content := _fill(text, texts).strip():
                messages.append(ChatMessage(cast(Role, role), content))
        return _with_notice(messages, mark, self.language) if mark else tuple(messages)


def _with_notice(messages: Sequence[ChatMessage], mark: str, language: str) -> tuple[ChatMessage, ...]:
    """Return the messages with the instruction about fenced texts at the end of the system message."""
    [notice] = load_in_language("memflow.chat", "untrusted", language=language).render({"mark": mark})
    if messages and messages[0].role == "system":
        return (ChatMessage("system", f"{messages[0].content}\n\n{notice.content}"), *messages[1:])
    return (notice, *messages)


def _fill(text: str, fields: Mapping[str, str]) -> str:
    """Replace every $field of a prompt section by its value."""
    return "".join(fields[part] if number % 2 else part for number, part in enumerate(_split_at_fields(text)))


@cache
def _split_at_fields(text: str) -> tuple[str, ...]:
    """Return literal texts and field names alternately, starting and ending with a literal text."""
    template = Template(text)
    return tuple(
        template.substitute({name: f"\0{name}\0" for name in template.get_identifiers()}).split("\0")
    )


def load(package: str, stem: str) -> Prompt:
    """Return the prompt in `prompts/<stem>.md` of a package, or the user's file that replaces it.

    Raises PromptError for a missing or malformed file, and for a user's file with other fields, output or language.
    """
    packaged = load_packaged(package, stem)
    file = replacement(packaged.name)
    return packaged if file is None else _replaced(packaged, package, file)


@cache
def load_packaged(package: str, stem: str) -> Prompt:
    """Return the prompt in `prompts/<stem>.md` of a package, also if the user replaces it. Raises PromptError."""
    return parse(packaged_text(package, stem), package, f"{package}/prompts/{stem}.md")


def packaged_text(package: str, stem: str) -> str:
    """Return the text of the file `prompts/<stem>.md` of a package. Raises PromptError if it is missing."""
    if not package:
        raise PromptError(
            f"the prompt {stem} belongs to no package. Move the module into a package with a folder "
            "`prompts`."
        )
    source = files(package).joinpath("prompts", f"{stem}.md")
    if not source.is_file():
        raise PromptError(
            f"{package} has no prompt file prompts/{stem}.md. Add it, or fix the prompt's name."
        )
    return source.read_text(encoding="utf-8")


@cache
def _replaced(packaged: Prompt, package: str, file: PromptFile) -> Prompt:
    user_prompt = parse(file.text, package, file.path, packaged.untrusted)
    check_contract(packaged, user_prompt, file.path)
    return user_prompt


def parse(text: str, package: str, path: str, untrusted: tuple[str, ...] = ()) -> Prompt:
    """Return the prompt in `text`, whose output type is in the module `answers` of `package`. Raises PromptError.

    The fields in `untrusted` are fenced if the front matter does not declare `untrusted`.
    """
    try:
        _, header, body = text.split("---\n", 2)
        front = _FrontMatter.model_validate(yaml.safe_load(header))
    except (ValueError, ValidationError, yaml.YAMLError) as error:
        raise PromptError(
            f"the front matter of {path} is invalid: {_error_line(error)}. Fix the file."
        ) from error
    pieces = _SECTION.split(body)
    sections = tuple(zip(pieces[1::2], (piece.strip("\n") for piece in pieces[2::2]), strict=True))
    if not sections:
        raise PromptError(
            f"the prompt file {path} has no section. Add a section that starts with the line '# user'."
        )
    if not all(Template(piece).is_valid() for _, piece in sections):
        raise PromptError(
            f"{path}: a `$` in the text is not the start of a field. Write `$$` for a dollar sign."
        )
    used_fields = {name for _, piece in sections for name in Template(piece).get_identifiers()}
    if used_fields | set(front.unused) != set(front.fields) or used_fields & set(front.unused):
        raise PromptError(
            f"{path}: the front matter declares the fields {sorted(front.fields)} and the unused fields "
            f"{sorted(front.unused)}, but the text uses {sorted(used_fields)}. Declare exactly the used fields; list a "
            "field that the text leaves out on purpose in both."
        )
    fenced = untrusted if front.untrusted is None else tuple(front.untrusted)
    if unknown_fields := set(fenced) - set(front.fields):
        raise PromptError(
            f"{path}: `untrusted` names {sorted(unknown_fields)}, which are no fields of the prompt. List declared "
            "fields."
        )
    output = None
    if front.output is not None:
        output = getattr(import_module(f"{package}.answers"), front.output, None)
        if output is None:
            raise PromptError(
                f"{path}: {package}.answers has no output type {front.output}. Define it, or fix "
                "`output` in the front matter."
            )
    return Prompt(
        name=front.name,
        fields=tuple(front.fields),
        output=output,
        language=front.language,
        max_tokens=front.max_tokens,
        temperature=front.temperature,
        sections=sections,
        digest=digest(text),
        usual_tokens=front.usual_tokens,
        untrusted=fenced,
    )


def check_contract(packaged: Prompt, user_prompt: Prompt, path: str) -> None:
    """Raise PromptError with the file and every difference if `user_prompt` cannot replace the packaged prompt."""
    if faults := contract_faults(packaged, user_prompt):
        text = " ".join(f"{fault}. {fix}." for fault, fix in faults)
        raise PromptError(f"{path} cannot replace the prompt {packaged.name}: {text}")


def contract_faults(packaged: Prompt, custom: Prompt) -> list[tuple[str, str]]:
    """Return the reasons why `custom` cannot replace the packaged prompt, as pairs of fault and fix.

    Name, fields, output type and language must be equal, and both or neither must have a section `# history`.
    """
    faults = [
        (f"its {key} is {value}", f"Set `{key}` to {target}")
        for key, value, target in (
            ("name", custom.name, packaged.name),
            ("language", custom.language, packaged.language),
        )
        if value != target
    ]
    value, target = (None if side.output is None else side.output.__name__ for side in (custom, packaged))
    if value != target:
        faults.append(
            (f"its output is {value}", "Remove `output`" if target is None else f"Set `output` to {target}")
        )
    if missing_names := [name for name in packaged.fields if name not in custom.fields]:
        fix = "Add them to `fields`, and to the text or to `unused`"
        faults.append((f"the fields {', '.join(missing_names)} are missing", fix))
    if extra_names := [name for name in custom.fields if name not in packaged.fields]:
        faults.append(
            (f"the fields {', '.join(extra_names)} are unknown", f"Use only {', '.join(packaged.fields)}")
        )
    has_history, needs_history = ("history" in dict(side.sections) for side in (custom, packaged))
    if needs_history and not has_history:
        faults.append(("it has no place for the conversation", "Add the line `# history`"))
    elif has_history and not needs_history:
        faults.append(("it has a place for a conversation, but none is sent", "Remove the line `# history`"))
    return faults


def _error_line(error: Exception) -> str:
    """Return an error of YAML, or the first one of pydantic with its location, as one line."""
    if isinstance(error, ValidationError):
        detail = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, detail['loc'])) or 'the whole'}: {detail['msg']}"
    return " ".join(str(error).split())


@cache
def has_prompts(package: str) -> bool:
    """Return whether a package has a prompts folder; False for a module outside packages ("")."""
    return bool(package) and files(package).joinpath("prompts").is_dir()


def prompt_stems(package: str) -> list[str]:
    """Return the stems of every prompt of a package in order; empty without a prompts folder."""
    if not has_prompts(package):
        return []
    folder = files(package).joinpath("prompts")
    return sorted(item.name.removesuffix(".md") for item in folder.iterdir() if item.name.endswith(".md"))


def all_prompts(package: str) -> list[Prompt]:
    """Return every prompt of a package by name; empty without a prompts folder."""
    return [load(package, stem) for stem in prompt_stems(package)]


@cache
def translated_stems(package: str) -> frozenset[str]:
    """Return the stems of prompts with a Chinese translation, `prompts/<stem>_zh.md`."""
    stems = [stem for stem in prompt_stems(package) if load_packaged(package, stem).language == "zh"]
    return frozenset(stem.removesuffix(_CHINESE) for stem in stems)


def load_in_language(
    package: str, stem: str, output: type[BaseModel] | None = None, language: str = "en"
) -> Prompt:
    """Return a prompt, or its translation into the language if the package contains a translation.

    If `output` is given, it replaces the output type of the prompt.
    """
    prompt = load(
        package, f"{stem}{_CHINESE}" if language == "zh" and stem in translated_stems(package) else stem
    )
    return prompt if output is None else replace(prompt, output=output)
