"""What a command may read: documents of the corpus, the run's scopes, /dev/null."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rarg_tui.search import landlock
from rarg_tui.search.refusal import CommandError, Refused

_SCOPE = re.compile(r"scope_([0-9]{1,9})\.txt")


@dataclass(frozen=True, slots=True)
class Policy:
    """What this run allows: the corpus ``root``, the ``run_dir`` with the files of the ``scopes``, and
    whether a search may cover the whole corpus. ``hidden``: hidden files may be read too."""

    root: str
    run_dir: str
    scopes: tuple[int, ...]
    whole_corpus: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A checked operand. ``kind``: ``scope``, ``document``, ``directory``, ``missing``, ``null``,
    ``stdin``; ``text`` as it was written; ``scope`` its number, when it is one."""

    kind: str
    text: str
    scope: int = 0


def locate(text: str, policy: Policy, *, directories: bool = False, stdin: bool = True) -> Place:
    """What the operand ``text`` names.

    Symlinks are resolved first. A name that does not exist is ``missing``: the program says so itself.
    Raises :class:`Refused` for what may not be read, :class:`CommandError` for an unknown scope.
    """
    if text == "-" and stdin:
        return Place("stdin", text)
    if text == "/dev/null":
        return Place("null", text)
    number = scope_number(text, policy)
    if number is not None:
        return Place("scope", text, number)
    return _in_corpus(text, policy, directories)


def _in_corpus(text: str, policy: Policy, directories: bool) -> Place:
    root = os.path.realpath(policy.root)
    real = os.path.realpath(os.path.join(root, text))
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise Refused(f"{text} is outside the corpus; name a document of the corpus or a scope file.")
    parts = os.path.relpath(real, root).split("/")
    if not policy.hidden and any(part.startswith(".") and part != "." for part in parts):
        raise Refused(f"{text} is hidden, and hidden files are not part of the corpus; name a document.")
    try:
        mode = os.stat(real).st_mode
    except OSError:
        return Place("missing", text)
    if stat.S_ISREG(mode):
        return Place("document", text)
    if not stat.S_ISDIR(mode):
        raise Refused(f"{text} is no regular file; name a document of the corpus.")
    if not directories:
        raise Refused(f"{text} is a directory; name documents, or search a scope.")
    return Place("directory", text)


def scope_number(text: str, policy: Policy) -> int | None:
    """The number of the run's scope that ``text`` names, or ``None`` when it names something else."""
    directory, name = os.path.split(text)
    found = _SCOPE.fullmatch(name)
    if found is None:
        return None
    ours = directory in ("", ".") or (
        os.path.isabs(directory) and os.path.realpath(directory) == os.path.realpath(policy.run_dir)
    )
    if not ours:
        return None
    number = int(found[1])
    if number not in policy.scopes or found[1] != str(number):
        raise CommandError(f"there is no {name}; {scopes_there_are(policy.scopes)}")
    return number


def scopes_there_are(scopes: Sequence[int]) -> str:
    if not scopes:
        return "this run has no scope yet: call embed_recall first."
    return f"this run has {', '.join(f'scope_{number}.txt' for number in sorted(scopes))}."


class Admission:
    """Decides whether listed files may be given to a program: as :func:`locate` does, but a directory is
    resolved once. ``documents`` are known to be documents of the corpus."""

    def __init__(self, policy: Policy, documents: Iterable[str] = ()) -> None:
        self._policy = policy
        self._plain: dict[str, bool] = {}
        self._documents = frozenset(documents)

    def refusals(self, names: Sequence[str]) -> dict[str, str]:
        """Those of ``names`` that may not be read, and why."""
        if self._documents.issuperset(names):
            return self.refusals_of_documents(names)
        return {name: reason for name in names if (reason := self.refusal(name))}

    def refusals_of_documents(self, names: Sequence[str]) -> dict[str, str]:
        """As :meth:`refusals`, of names that come from a list of documents. Where the kernel keeps the
        programs inside the corpus they are not looked at again one by one, which would take as long as
        the search itself; unless the list, which may have come with somebody's run, holds odd ones."""
        listed = "\n".join(("", *names))
        if landlock.version() and not any(odd in listed for odd in ("\n/", "\n.", "/.", "\0")):
            return {}
        return {name: reason for name in names if (reason := self.refusal(name))}

    def refusal(self, name: str) -> str:
        """Why ``name`` may not be read, or ``""``. A missing file is admitted: the program says so."""
        if not name or "\0" in name:
            return "not a file name"
        directory, base = os.path.split(name)
        if self._is_plain(directory) and not base.startswith("."):
            try:
                mode = os.lstat(os.path.join(self._policy.root, name)).st_mode
            except OSError:
                return ""
            if stat.S_ISREG(mode):
                return ""
        try:
            _in_corpus(name, self._policy, directories=False)
        except Refused as refused:
            return str(refused).rstrip(".")
        return ""

    def _is_plain(self, directory: str) -> bool:
        """Whether ``directory`` is what it says: below the root, no link on the way, nothing hidden."""
        plain = self._plain.get(directory)
        if plain is None:
            root = os.path.realpath(self._policy.root)
            whole = os.path.join(root, directory) if directory else root
            plain = (
                not os.path.isabs(directory)
                and os.path.realpath(whole) == whole
                and not any(part.startswith(".") for part in directory.split("/"))
            )
            self._plain[directory] = plain
        return plain
