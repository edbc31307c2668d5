"""One short name for the state of a set of documents."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

from rarg_tui.corpus.files import Document


def fingerprint(documents: Iterable[Document]) -> str:
    """32 hex digits over paths, sizes and modification times."""
    digest = hashlib.blake2b(digest_size=16)
    for document in documents:
        digest.update(os.fsencode(document.path))
        digest.update(b"\0%d\0%d\n" % (document.size, document.mtime_ns))
    return digest.hexdigest()
