"""Corpora for the differential test: one of random small files and some that are made to be cut at the
wrong place, and others as they are found."""

from __future__ import annotations

import os
import random
import stat
from dataclasses import dataclass
from pathlib import Path

from rarg_tui.search.growth import ROOM
from tests.hostile import WORD

_VOCABULARY = (
    WORD, WORD.lower(), WORD.upper(), f"{WORD}{WORD}", f"un{WORD.lower()}ed", "bird", "green", "a", "the",
    "é", "naïve", "漢字", "🧭", "e\u0301", "--", "-", ":", "a:b", "$1", "x*", "(", "[bold]", "\\n", "\t",
)  # fmt: skip
_ENDINGS = (".txt", ".txt", ".md", ".py", "", ".c")
_NAMES = (
    "-", "--", "-rf", "--files.txt", "a b.txt", " lead.txt", "trail ", "it's.txt", 'say "hi".txt',
    "a:1:b.txt", "a-1-b.txt", "back\\slash.txt", "$HOME.txt", "*.txt", "日本.md", "e\u0301.txt",
    "tab\there.txt", "cr\rhere.txt", "esc\x1b[31m.txt", "deep/er/-.txt", "deep/- .md",
    os.fsdecode(b"bad-\xff\xfe.txt"), os.fsdecode(b"latin/\xe9t\xe9.txt"), "binary file matches.txt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Corpus:
    """``paths`` of regular files below ``root``; ``awkward`` are those of them that are worth meeting
    more often; ``word`` is in many of them. ``pattern_files`` hold patterns, not documents."""

    root: Path
    paths: tuple[str, ...]
    awkward: tuple[str, ...]
    word: str
    pattern_files: tuple[str, ...]


def build(root: Path, seed: int, files: int = 90) -> Corpus:
    """Write a corpus into the empty directory ``root``, deterministic by ``seed``."""
    rng = random.Random(seed)
    special = _special()
    names = [*_NAMES, *(f"{'sub/' * rng.randrange(2)}{n:03}{rng.choice(_ENDINGS)}" for n in range(files))]
    documents = {name: _document(rng) for name in names} | special
    for name, data in documents.items():
        put(root, name, data)
    return Corpus(root, tuple(documents), (*special, *_NAMES), WORD, _write_patterns(root, WORD))


def adopt(root: Path, word: str) -> Corpus:
    """The regular files that are below ``root`` already; hidden ones are no documents, and a scope cannot
    name one with a line end."""
    paths = sorted(
        path
        for directory, _, names in os.walk(root)
        for name in names
        if stat.S_ISREG(os.lstat(os.path.join(directory, name)).st_mode)
        and not (path := os.path.relpath(os.path.join(directory, name), root)).startswith(".")
        and "/." not in path
        and "\n" not in path
    )
    return Corpus(root, tuple(paths), tuple(paths), word, _write_patterns(root, word))


def _write_patterns(root: Path, word: str) -> tuple[str, ...]:
    files = {
        "patterns/one": word.encode() + b"\n",
        "patterns/two": b"bird\n" + word[:4].encode() + b"\n",
        "patterns/no-final-newline": b"green",
        "patterns/crlf": b"bird\r\n" + word.encode() + b"\r\n",
        "patterns/empty": b"",
        "patterns/blank line": b"\nnowhere\n",
    }
    for name, data in files.items():
        put(root, name, data)
    return tuple(files)


def put(root: Path, name: str, data: bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _document(rng: random.Random) -> bytes:
    lines = [_line(rng) for _ in range(rng.choice((0, 1, 2, 3, 5, 12)))]
    end = rng.choice((b"\n", b"\n", b"\n", b"\r\n"))
    data = end.join(lines)
    if lines and rng.random() < 0.75:
        data += end
    form = rng.random()
    if form < 0.05:
        return b"\xef\xbb\xbf" + data
    if form < 0.1:
        return data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-16-be", "utf-32")))
    if form < 0.2:
        at = rng.randrange(len(data) + 1)
        return data[:at] + b"\0" + data[at:]
    return data


def _line(rng: random.Random) -> bytes:
    if rng.random() < 0.1:
        return b""
    words = [rng.choice(_VOCABULARY).encode() for _ in range(rng.choice((1, 1, 2, 4, 9)))]
    if rng.random() < 0.1:
        words.insert(
            rng.randrange(len(words) + 1), rng.choice((b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xe6\xbc"))
        )
    return rng.choice((b"", b"", b"", b"  ", b"\t")) + b" ".join(words)


def _special() -> dict[str, bytes]:
    word, filler = WORD.encode(), b"filler about nothing\n"
    far = filler * (2 * ROOM // len(filler))
    hit = word + b" here\n"
    return {
        "empty.txt": b"",
        "newline.txt": b"\n",
        "nul-only.txt": b"\0",
        "nul-first.txt": b"\0" + hit,
        "nul-after-match.txt": hit + b"\0\n" + hit,
        "nul-without-match.txt": b"nothing\0\n",
        "late-nul.txt": hit + far + b"\0" + hit,
        "late-nul-many.txt": hit + far + hit + far + hit + b"\0\n" + far + hit,
        "late-nul-long-line.txt": hit + b"x" * 70_000 + b"\n\0 " + hit,
        "late-nul-no-match-before.txt": far + far + b"\0\n" + hit,
        "late-nul-at-border.txt": hit + b"y" * (ROOM - len(hit)) + b"\n\0\n" + hit,
        "late-nul.utf16": (hit.decode() + "漢字のない行\n" * 6_000 + "\0" + hit.decode()).encode("utf-16"),
        "long-line.txt": b"x" * 90_000 + word + b"y" * 90_000 + b"\n" + hit,
        "long-line-no-newline.txt": b"bird" + b"z" * 70_000,
        "long-lines.txt": (b"w" * 30_000 + b"\n") * 4 + hit + (b"v" * 30_000 + b"\n") * 4,
        "long-line.utf16": ("漢" * 50_000 + "\n" + hit.decode()).encode("utf-16"),
        "notice.txt": b' binary file matches (found "\\0" byte around offset 3)\n' + hit,
        "notice-only.txt": b'x: binary file matches (found "\\0" byte around offset 0)\n' + hit,
        "separators.txt": b"--\n" + hit + b"--\n\n" + hit,
    }  # fmt: skip
