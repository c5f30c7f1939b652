"""Conversion of published prompts: reads a text from a Python or JSON file, and maps its placeholders to fields.

A Python file is parsed and never executed: only literal strings, their concatenation, containers of them and methods
such as `.strip()` are read. replacements.py has the files that replace prompts.
"""

import ast
import json
import re
import string
import textwrap
from collections.abc import Mapping
from typing import Any, TypeVar

from memflow.chat.prompts import Prompt
from memflow.errors import BadInput
from memflow.suggestions import unknown_name

FORMAT = "{}"
"""The default placeholder style: Python's format strings, with `{{` for a brace."""
NAME = "NAME"
"""The word in a placeholder style that stands for the name, as in `<<<NAME>>>`."""
T = TypeVar("T")
_METHODS = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}
_SECTION = re.compile(r"^# (?:system|user|assistant|history)[ \t]*$", re.MULTILINE)


def python_text(source: str, key: str, where: str) -> str:
    """Return the text that a Python file assigns to a module-level name, without running the file.

    `key` is the name, followed by keys or indices of dicts and lists after dots: `PROMPTS.en.0`. Raises BadInput if
    there is no such text, or if it is computed.
    """
    name, *path = key.split(".")
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as wrong:
        raise BadInput(f"{where} is not a Python file: {wrong}. Choose another file.") from wrong
    values = {
        target.id: statement.value
        for statement in module.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    }
    if name not in values:
        raise BadInput(unknown_name("constant", name, values, owner=where))
    node = values[name]
    for part in path:
        node = _child(_items(node), part, f"{where}: {key}")
    try:
        return _literal(node, f"{where}: {key}")
    except RecursionError as wrong:
        raise BadInput(f"{where}: {key} joins too many texts. Copy the text by hand.") from wrong


def json_text(source: str, key: str, where: str) -> str:
    """Return the text at a key of a JSON file, such as `prompts.overall` or `messages.0.content`. Raises BadInput."""
    try:
        found = json.loads(source)
    except (ValueError, RecursionError) as wrong:
        raise BadInput(f"{where} is not a JSON file: {wrong}. Choose another file.") from wrong
    for part in key.split("."):
        items = dict(enumerate(found)) if isinstance(found, list) else found
        found = _child(items if isinstance(items, dict) else {}, part, f"{where}: {key}")
    if not isinstance(found, str):
        raise BadInput(
            f"{where}: {key} is not a text, but a {type(found).__name__}. Add the key of a text after a dot."
        )
    return found


def with_fields(text: str, fields: Mapping[str, str], style: str = FORMAT) -> str:
    """Return a text with $fields in place of its placeholders; `$` becomes `$$`.

    `fields` maps names of placeholders to fields; other names stay. The name of `{}` is its number, from 0. `style` is
    FORMAT or a placeholder with the word NAME, such as `<<<NAME>>>`. Raises BadInput for text that is not
    a format string, and for placeholders with conversions or attributes.
    """
    if style != FORMAT:
        before, word, after = style.partition(NAME)
        if not (before and word):
            raise BadInput(
                f"the placeholder style {style!r} has no NAME after a first character. Write <<<NAME>>>."
            )
        pieces = re.split(f"{re.escape(before)}([A-Za-z_][A-Za-z0-9_]*){re.escape(after)}", text)
        return "".join(
            _field(piece, fields) if at % 2 else _escaped(piece) for at, piece in enumerate(pieces)
        )
    found = []
    count = 0
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError as wrong:
        raise BadInput(
            f"the text is not a format string ({wrong}). If it has single braces, use --placeholder '{{NAME}}'."
        ) from wrong
    for literal, name, spec, conversion in parsed:
        found.append(_escaped(literal))
        if name is None:
            continue
        if spec or conversion or not re.fullmatch(r"\w*", name):
            raise BadInput(
                f"the placeholder {{{name}}} has a format, an attribute or spaces. If the text has single braces, use "
                "--placeholder '{NAME}'; otherwise edit the imported file."
            )
        found.append(_field(name or str(count), fields))
        count += not name
    return "".join(found)


def prompt_file(packaged: Prompt, packaged_text: str, sections: Mapping[str, str]) -> str:
    """Return the text of a prompt file with the front matter of a packaged prompt and the given sections.

    A `# history` section of the packaged prompt is kept. Fields that the sections do not use are listed as `unused`.
    Raises BadInput for unknown fields and for lines that would start a section.
    """
    for role, text in sections.items():
        if found := _SECTION.search(text):
            raise BadInput(
                f"the {role} text has the line {found.group()!r}, which starts a section. Edit the text."
            )
    used = {name for text in sections.values() for name in string.Template(text).get_identifiers()}
    if unknown := sorted(used - set(packaged.fields)):
        raise BadInput(
            f"the placeholders {', '.join(unknown)} are no fields of {packaged.name}. Map each to a field with --field "
            f"NAME=FIELD. Fields: {', '.join(packaged.fields)}."
        )
    unused = [name for name in packaged.fields if name not in used]
    _, header, _ = packaged_text.split("---\n", 2)
    if unused:
        header += f"unused: [{', '.join(unused)}]\n"
    history = "# history\n" if "history" in dict(packaged.sections) else ""
    system = f"# system\n{sections['system'].strip()}\n" if "system" in sections else ""
    return f"---\n{header}---\n{system}{history}# user\n{sections['user'].strip()}\n"


def _literal(node: ast.expr, where: str) -> str:
    """Return the text of a literal string, of a concatenation, or of a call such as `'text'.strip()`."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _literal(left, where) + _literal(right, where)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if (
            method in _METHODS
        ):
            return _METHODS[method](_literal(value, where))
        case ast.Call(func=ast.Attribute(attr="dedent") | ast.Name(id="dedent"), args=[value], keywords=[]):
            return textwrap.dedent(_literal(value, where))
        case ast.Dict() | ast.List() | ast.Tuple():
            keys = ", ".join(map(str, _items(node)))
            raise BadInput(f"{where} has several texts. Add one of these keys after a dot: {keys}.")
    kind = "an f-string" if isinstance(node, ast.JoinedStr) else "not a literal text"
    raise BadInput(f"{where} is {kind} at line {node.lineno}. Copy the text into a prompt file.")


def _items(node: ast.expr) -> dict[Any, ast.expr]:
    """Return the items of a dict with literal keys, of a list or of a tuple; empty for other expressions."""
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return dict(enumerate(items))
    return {}


def _child(items: Mapping[Any, T], key: str, where: str) -> T:
    by_name = {str(name): value for name, value in items.items()}
    if key not in by_name:
        raise BadInput(f"{where}: there is no key {key!r}. Keys there: {', '.join(by_name) or 'none'}.")
    return by_name[key]


def _field(name: str, fields: Mapping[str, str]) -> str:
    field = fields.get(name, name)
    if not field.isidentifier():
        raise BadInput(
            f"the placeholder number {name} has no name. Map it to a field with --field {name}=FIELD."
        )
    return f"${{{field}}}"


def _escaped(text: str) -> str:
    return text.replace("$", "$$")
