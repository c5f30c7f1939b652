"""A reader of the LaTeX that memflow writes: the cells of its tables, and whether all that begins also ends."""

import re

SPECIAL = re.compile(r"(?<!\\)[&%$#_{}]")


def latex_tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each `tabular` of a LaTeX document. Fail for a cell with unescaped markup."""
    tables = []
    for spec, body in re.findall(r"\\begin{tabular}{(\w+)}\n(.*?)\\end{tabular}", text, re.DOTALL):
        lines = body.splitlines()
        assert (lines[0], lines[2], lines[-1]) == ("\\toprule", "\\midrule", "\\bottomrule")
        rows = [line.removesuffix(" \\\\") for line in lines if line.endswith(" \\\\")]
        assert len(rows) == len(lines) - 3
        cells = [re.split(r" (?<!\\)& ", f"{row} " if row.endswith("&") else row) for row in rows]
        assert {len(row) for row in cells} == {len(spec)}
        plain = [
            [
                re.sub(
                    r"\$[^$]*\$|\\(textbackslash|textasciitilde|textasciicircum|ldots){}",
                    "",
                    re.sub(r"^\\textbf{(.*)}$", r"\1", cell),
                )
                for cell in row
            ]
            for row in cells
        ]
        assert not [cell for row in plain for cell in row if SPECIAL.search(cell)]
        tables.append(cells)
    assert is_balanced(text)
    return tables


def is_balanced(text: str) -> bool:
    """Return whether each environment and brace of a LaTeX document ends within the one that it began in."""
    opened = []
    for begun, ended, brace in re.findall(r"\\begin{(\w+)}|\\end{(\w+)}|(\\.|[{}])", text, re.DOTALL):
        if begun or brace == "{":
            opened.append(begun or "}")
        elif (ended or brace == "}") and (not opened or opened.pop() != (ended or brace)):
            return False
    return not opened
