"""A small corpus of legal but awkward files: names, contents and file-system objects that break tools."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

WORD = "Quetzal"

#: Document → number of lines with :data:`WORD`.
TEXTS: dict[str, tuple[bytes, int]] = {
    "plain.txt": (b"The Quetzal is a bird.\n", 1),
    "with space.txt": (b"Quetzal in a spaced name\n", 1),
    'it\'s "quoted".txt': (b"Quetzal\n", 1),
    "-rf.txt": (b"Quetzal behind a dash\n", 1),
    "--pre=sh.txt": (b"Quetzal behind an option\n", 1),
    "$(touch pwned).txt": (b"Quetzal\n", 1),
    "`id`;echo.txt": (b"Quetzal\n", 1),
    "[bold]x[/].txt": (b"Quetzal [/] [@click=app.quit]quit[/]\n", 1),
    "colon:12:name.txt": (b"Quetzal\n", 1),
    "tab\tname.txt": (b"Quetzal\n", 1),
    "carriage\rreturn.txt": (b"Quetzal\n", 1),
    "Ünï/漢字 🧭.txt": ("前 Quetzal 後 漢字 🧭 e\u0301\n".encode(), 1),
    "nfc-\u00e9.txt": (b"Quetzal\n", 1),
    "nfd-e\u0301.txt": (b"Quetzal\n", 1),
    os.fsdecode(b"latin-\xe9.txt"): (b"Quetzal in a name that is not UTF-8\n", 1),
    "deep/" + "/".join(["d" * 40] * 8) + "/file.txt": (b"Quetzal deep down\n", 1),
    "n" * 250 + ".txt": (b"Quetzal in a long name\n", 1),
    "empty.txt": (b"", 0),
    "blank.txt": (b"\n\n\n", 0),
    "no-final-newline.txt": (b"Quetzal", 1),
    "crlf.txt": (b"one\r\nQuetzal\r\ntwo\r\n", 1),
    "bom.txt": (b"\xef\xbb\xbfQuetzal after a mark\n", 1),
    "utf16.txt": ("Quetzal in UTF-16\n".encode("utf-16"), 1),
    "latin1.txt": ("café Quetzal naïve\n".encode("latin-1"), 1),
    "bad-utf8.txt": (b"\xfa\xff Quetzal \xc3\x28 \xed\xa0\x80\n", 1),
    "escape.txt": (b"\x1b]0;PWNED\x07\x1b[2JQuetzal\x1b[0m\n", 1),
    "bidi.txt": ("\u202elazteuQ\u202c Quetzal \u200b\ufeff\n".encode(), 1),
    "markup.html": (b"<html><title>Birds & <b></title>\n<script>\nQuetzal\n</script><p>Quetzal &lt;3\n", 2),
    "one-long-line.json": (b'{"k":"' + b"x" * 300_000 + b"Quetzal" + b"y" * 300_000 + b'"}', 1),
    "many-matches.txt": (b"Quetzal\n" * 5_000, 5_000),
    "long-doc.txt": (b"filler about nothing. " * 30_000 + b"\nQuetzal at the end\n", 1),
}

#: Files that are no documents: binary, hidden, or under version control.
OTHERS: dict[str, bytes] = {
    "nul.bin": b"\x00\x01Quetzal\x00\n",
    ".hidden.txt": b"Quetzal\n",
    ".git/config": b"Quetzal\n",
    "CVS/Entries": b"Quetzal\n",
}

NEWLINE_NAME = "new\nline.txt"


@dataclass(frozen=True, slots=True)
class Hostile:
    """``root`` of the corpus; ``lines`` are the documents with their lines that hold :data:`WORD`."""

    root: Path
    lines: dict[str, int]


def make(root: Path) -> Hostile:
    """Write the corpus into the empty directory ``root``. Names that the file system refuses are left
    out, here and in the result."""
    lines: dict[str, int] = {}
    for name, (data, count) in TEXTS.items():
        with contextlib.suppress(OSError):
            _put(root, name, data)
            lines[name] = count
    for name, data in {**OTHERS, NEWLINE_NAME: b"Quetzal\n"}.items():
        _put(root, name, data)
    os.symlink("plain.txt", root / "link.txt")
    os.symlink(".", root / "loop")
    os.symlink("/etc/passwd", root / "outside.txt")
    os.mkfifo(root / "pipe.txt")
    return Hostile(root, lines)


def _put(root: Path, name: str, data: bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
