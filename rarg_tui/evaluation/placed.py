"""Where the documents of a data set lie as files, and which id each has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from rarg_tui.corpus.decoding import clean
from rarg_tui.corpus.files import Corpus
from rarg_tui.errors import RargError
from rarg_tui.evaluation.names import Names
from rarg_tui.evaluation.records import Report, field, records
from rarg_tui.evaluation.sources import Source
from rarg_tui.evaluation.unpack import unpack


class Placed(Protocol):
    """The documents, each a file."""

    def __len__(self) -> int: ...

    def path(self, identifier: str) -> str | None:
        """The file of a document, relative to their directory; ``None`` when there is none."""


def place(source: Source, directory: Path, report: Report, copies: bool) -> Placed:
    """Make ``directory``, which does not exist, the directory of the documents of ``source``. Those of a
    folder stay where they are, behind a link, unless ``copies`` are wanted."""
    if source.is_records:
        directory.mkdir()
        return Written(source.documents, directory, report)
    if source.is_folder:
        paths = source.paths()
        if copies:
            for path in paths:
                (directory / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source.documents / path, directory / path, follow_symlinks=False)
        else:
            directory.symlink_to(source.documents.resolve(), target_is_directory=True)
        return Found(paths)
    directory.mkdir()
    unpack(source.documents, directory)
    return Found(Corpus(directory).paths())


class Written:
    """Records written out as files, the title on the first line; the ids may be any text."""

    def __init__(self, file: Path, directory: Path, report: Report) -> None:
        self._paths: dict[str, str] = {}
        names = Names()
        for where, row in records(file, report):
            identifier = field(where, row, "_id", "id", "docid")
            text = _text(where, row)
            known = self._paths.get(identifier)
            if known is None:
                known = self._paths[identifier] = names.name(identifier)
                (directory / known).write_text(text, "utf-8", newline="\n")
            elif (directory / known).read_text("utf-8") != text:
                raise RargError(f"{where}: the id {identifier!r} stands for another document already.")

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, identifier: str) -> str | None:
        return self._paths.get(identifier)


class Found:
    """Files that are there: an id is a path, or a file's name, with its endings or without."""

    _FORMS: tuple[Callable[[str], str], ...] = (
        lambda path: path,
        lambda path: _without_ending(path),
        lambda path: path.rpartition("/")[2],
        lambda path: _without_ending(path.rpartition("/")[2]),
    )

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._known: list[dict[str, str | None]] = []
        for form in self._FORMS:
            known: dict[str, str | None] = {}
            for path in self._paths:
                key = form(path)
                known[key] = None if key in known else path
            self._known.append(known)

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, identifier: str) -> str | None:
        wanted = identifier.removeprefix("./")
        for known in self._known:
            if wanted in known:
                found = known[wanted]
                if found is None:
                    raise RargError(
                        f"The id {identifier!r} fits several documents; judge them by their paths."
                    )
                return found
        return None


def _text(where: str, row: Mapping[str, Any]) -> str:
    parts = []
    for names in (("title",), ("text", "contents", "content")):
        found = next((row[name] for name in names if row.get(name) is not None), "")
        if not isinstance(found, str):
            raise RargError(f"{where}: {names[0]!r} must be text.")
        parts.append(found)
    title, text = parts
    # A NUL would make the file a binary one, which is no document.
    whole = "\n".join(part for part in (" ".join(title.split()), text) if part)
    return clean(whole).replace("\0", " ") + "\n"


def _without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"
