"""The example: a finished report of the demo, whose data files ship in example.zip.

`make example` writes example.zip from a run of the demo with the scripted chat:

    python -m memflow.resources.report.example FOLDER

The page is that of the front end of this version, so the archive contains data files only.
"""

import shutil
import sys
import tempfile
import zipfile
from importlib.resources import as_file, files
from pathlib import Path

from memflow.resources.report.export import put_pages
from memflow.resources.report.folder import DATA, MANIFEST, SITE, ReportFolder

ARCHIVE = "example.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that equal reports give equal archives."""


def write_example(folder: Path) -> None:
    """Write the example report into a folder. Raises BadInput for a folder that contains something else."""
    target = ReportFolder(folder)
    with (
        as_file(files("memflow.resources.report") / ARCHIVE) as archive,
        tempfile.TemporaryDirectory() as temporary,
    ):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(temporary)
        shutil.rmtree(folder / DATA, ignore_errors=True)
        shutil.copytree(temporary, folder, dirs_exist_ok=True)
    put_pages(target)


def pack_example(folder: Path, archive: Path) -> None:
    """Write the manifest and data files of a report folder to a zip archive.

    The file `site`, which names all others, is written last.
    """
    report = ReportFolder(folder)
    paths = [folder / MANIFEST, *(report.path(name) for name in (*report.former_names, SITE))]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in paths:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    pack_example(Path(sys.argv[1]), Path(__file__).with_name(ARCHIVE))
