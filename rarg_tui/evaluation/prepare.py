"""Bringing a data set that others made into rarg's own form, whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.evaluation import sources
from rarg_tui.evaluation.datasets import DOCUMENTS, QRELS, QUESTIONS, is_dataset
from rarg_tui.evaluation.names import Names
from rarg_tui.evaluation.placed import Placed, place
from rarg_tui.evaluation.sources import Asked, Source
from rarg_tui.paths import writable

#: Below the cache: a directory a source, with the data set under the source's name.
FOLDER = "datasets"

#: What a written data set was made from, and what there is to say about it.
ABOUT = "source.json"

_FORM = 1

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A data set in rarg's own form. ``notes`` are sentences about what its source lacks."""

    directory: Path
    documents: int
    notes: tuple[str, ...] = ()


def prepare(
    origin: Path, target: Path, split: str | None = None, progress: OnProgress = lambda _: None
) -> Prepared:
    """Write the data set in ``origin`` out in ``target``, which must not exist, with a copy of its
    documents."""
    if os.path.lexists(target):
        raise RargError(f"{target} exists already: name a new directory.")
    source = sources.find(origin, split)
    unfinished = target.with_name(f".{target.name}.new")
    with _finished(unfinished, target):
        return _write(source, unfinished, target, progress, copies=True)


def ready(
    origin: Path, cache: Path, split: str | None = None, progress: OnProgress = lambda _: None
) -> Prepared:
    """The data set in ``origin`` in rarg's own form: itself if it has it, else what is kept below ``cache``,
    which is written when the source is new or has changed. A folder of documents stays where it is."""
    if is_dataset(origin):
        return Prepared(origin, 0)
    source = sources.find(origin, split)
    whole = origin.expanduser().resolve()
    key = hashlib.blake2b(os.fsencode(whole) + f"\0{split}".encode(), digest_size=8).hexdigest()
    base, _ = writable(cache / FOLDER / key)
    target = base / (Names().name(whole.name).removesuffix(".txt"))
    identity = {"form": _FORM, "source": sources.escaped(whole), "files": source.identity()}
    with _locked(base):
        kept = _kept(target, identity)
        if kept is not None:
            return kept
        shutil.rmtree(target, ignore_errors=True)
        unfinished = base / ".new"
        with _finished(unfinished, target):
            made = _write(source, unfinished, target, progress, copies=False)
            about = {**identity, "documents": made.documents, "notes": made.notes}
            (unfinished / ABOUT).write_text(json.dumps(about), "utf-8")
        return made


def _kept(target: Path, identity: Mapping[str, object]) -> Prepared | None:
    try:
        about = json.loads((target / ABOUT).read_bytes())
        if any(about[name] != value for name, value in identity.items()):
            return None
        return Prepared(target, int(about["documents"]), tuple(map(str, about["notes"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _finished(unfinished: Path, target: Path) -> Iterator[None]:
    """What is written into ``unfinished`` meanwhile becomes ``target`` in one step, or is gone."""
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        yield
        unfinished.rename(target)
    except OSError as error:
        raise RargError(
            f"The data set could not be written to {target} ({error.strerror or error}): name another place, "
            "or free some space."
        ) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _locked(base: Path) -> Iterator[None]:
    """One rarg at a time writes a data set; the others wait for it."""
    try:
        with open(base / "lock", "ab") as lock:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise RargError(f"The cache {base} cannot be written to ({error.strerror}).") from None


def _write(source: Source, into: Path, target: Path, progress: OnProgress, copies: bool) -> Prepared:
    asked = _asked(source)
    judged = source.judged(asked)
    asked = [replace(question, id=_known_as(question.id, judged)) for question in asked]

    def report(done: int, total: int) -> None:
        progress(Progress("bytes of documents", done, total))

    placed = place(source, into / DOCUMENTS, report, copies)
    missing: dict[str, str] = {}
    names = Names()

    def path(identifier: str) -> str:
        # A document that was judged and is not there counts as one that is never found.
        found = placed.path(identifier) or missing.get(identifier)
        if found is None:
            found = missing[identifier] = f"missing/{names.name(identifier)}"
        return found

    with (into / QRELS).open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as out:
        for name, documents in judged.items():
            for identifier, relevance in documents.items():
                out.write(f"{_one_line(name)}\t0\t{path(identifier)}\t{relevance}\n")
    with (into / QUESTIONS).open("w", encoding="utf-8") as out:
        for question in asked:
            if question.text.strip():
                out.write(json.dumps(_row(question, placed)) + "\n")
            elif question.id in judged:
                raise RargError(f"{source.questions}: the question {question.id!r} has no text.")
    return Prepared(target, len(placed), tuple(_notes(asked, judged, missing)))


def _asked(source: Source) -> list[Asked]:
    """The questions, each once."""
    found: dict[str, Asked] = {}
    for where, question in source.asked():
        if found.setdefault(question.id, question) != question:
            raise RargError(f"{where}: the id {question.id!r} stands for another question already.")
    return list(found.values())


def _known_as(question: str, judged: Collection[str]) -> str:
    """The id that the judgements use: some leave the zeros of a topic's number out."""
    short = question.lstrip("0")
    return short if question not in judged and short in judged else question


def _row(question: Asked, placed: Placed) -> dict[str, object]:
    row: dict[str, object] = {"id": _one_line(question.id), "question": question.text}
    if question.answer:
        row["answer"] = question.answer
    if excluded := [path for path in map(placed.path, question.excluded) if path is not None]:
        row["excluded"] = excluded
    return row


def _notes(
    asked: Sequence[Asked], judged: Mapping[str, Mapping[str, int]], missing: Collection[str]
) -> Iterator[str]:
    there = {question.id for question in asked}
    if missing:
        such = next(iter(missing))
        yield f"Judged but not in the corpus, and so never found: {len(missing)} documents, such as {such!r}."
    if unknown := sum(question not in there for question in judged):
        yield f"Judged but not among the questions, and so left out: {unknown}."
    if unjudged := sum(question not in judged for question in there):
        yield f"Not judged, and so left out: {unjudged} of {len(there)} questions."


def _one_line(text: str) -> str:
    return " ".join(text.split())
