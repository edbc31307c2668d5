"""Why a path is no document of a corpus."""

from __future__ import annotations

import os
import stat

from rarg_tui.corpus.files import VERSION_CONTROL, Corpus, matches, read_head

_NEAR = 3


def why_left_out(corpus: Corpus, path: str) -> str:
    """The reason, as a clause, why ``path`` (relative to the root) is not among the documents; empty when
    it is one of them."""
    listing = corpus.listing()
    if path in listing.documents.paths:
        return ""
    problem = next((problem for problem in listing.problems if problem.path == path), None)
    if problem is not None:
        return problem.reason
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        return "documents are named by their path from the corpus's root, without . and .."
    if any(part.startswith(".") for part in parts):
        return "hidden files and folders are left out"
    if any(os.fsencode(part) in VERSION_CONTROL for part in parts[:-1]):
        return "the folders of version control are left out"
    try:
        return _by_kind(corpus, path) or "it has appeared or changed since the corpus was listed"
    except OSError as error:
        near = [other for other in listing.documents.paths if other.rpartition("/")[2] == parts[-1]][:_NEAR]
        there = f"; there is {' and '.join(near)}" if near else ""
        return f"{(error.strerror or str(error)).lower()}{there}"


def _by_kind(corpus: Corpus, path: str) -> str:
    current = os.fspath(corpus.root)
    mode = 0
    for part in path.split("/"):
        current = f"{current}/{part}"
        mode = os.lstat(current).st_mode
        if stat.S_ISLNK(mode):
            return "symlinks are not followed"
    if not stat.S_ISREG(mode):
        return "it is a folder" if stat.S_ISDIR(mode) else "it is no regular file"
    above = [path.rsplit("/", depth)[0] for depth in range(path.count("/") + 1)]
    if any(matches(folder, corpus.exclude) for folder in above):
        return f"it is excluded by {', '.join(corpus.exclude)}"
    if corpus.include and not matches(path, corpus.include):
        return f"only {', '.join(corpus.include)} are included"
    return "it is binary: there is a NUL byte near its beginning" if b"\0" in read_head(current) else ""
