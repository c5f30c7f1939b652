"""The page of a report, index.html.

The front end is built from app/src and committed in app/dist; nothing is built or downloaded here.
"""

import html
from importlib.resources import files

ROBOTS = b"User-agent: *\nDisallow: /\n"
LICENSES = "LICENSES.txt"
POLICY = "default-src 'none'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
FROM_FILES = "script-src 'self' file:; style-src 'self' file: 'unsafe-inline'"
"""The folder's scripts and styles. Chromium's 'self' does not cover file:// in every version."""
NO_SCRIPT = "This report needs JavaScript, which runs from this folder alone and sends nothing."


def bundle(name: str) -> bytes:
    """Return a file of the built front end."""
    return files("memflow.resources.report").joinpath("app", "dist", name).read_bytes()


def index_page(title: str) -> bytes:
    """Return the page of a folder, which loads app.css, app.js and data/site.js."""
    head = '<link rel="stylesheet" href="app.css">'
    scripts = '<script src="app.js"></script>\n<script src="data/site.js"></script>'
    policy = f"{POLICY}; {FROM_FILES}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title)}</title>
{head}
</head>
<body>
<div id="app"><noscript>{NO_SCRIPT}</noscript></div>
{scripts}
</body>
</html>
""".encode()
