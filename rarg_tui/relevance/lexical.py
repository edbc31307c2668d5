"""BM25 over title and text, by tantivy."""

from __future__ import annotations

import math
import shutil
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rarg_tui.corpus.decoding import clean
from rarg_tui.corpus.documents import Paths
from rarg_tui.corpus.progress import check
from rarg_tui.relevance.manifest import MANIFEST, carry, damaged
from rarg_tui.relevance.ranker import Built, Held, Job, content, hold, missing, worn

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

    from rarg_tui.relevance.manifest import Part
    from rarg_tui.relevance.table import Table

#: Weight of a query word in the title, beside 1 for the whole text (title included).
TITLE_WEIGHT = 0.2

_HEAP = 64_000_000
_TOKEN_LENGTH = 40

#: tantivy queues documents by number, whatever their size: after so many characters it is waited for.
_QUEUED = 64_000_000

#: tantivy puts a new file in the place of these; it never writes into any other twice.
_REPLACED = ("meta.json", ".managed.json")


class Lexical:
    """Query words as an OR of terms; the tokenizer is tantivy's ``en_stem`` (words, lower case, English
    stems). New documents become segments beside those of the earlier part; dead rows stay in them, and in
    BM25's statistics, until they are a fifth of all."""

    name = "lexical"

    def settings(self) -> Mapping[str, Any]:
        return {"engine": "tantivy", "tokenizer": "en_stem", "title_weight": TITLE_WEIGHT}

    def build(self, job: Job) -> Built:
        try:
            return self._build(job)
        except ValueError as error:  # how tantivy says that a file could not be written
            raise OSError(str(error)) from None

    def _build(self, job: Job) -> Built:
        import numpy as np
        import tantivy

        from rarg_tui.relevance.table import FILES, ROW, Table, concatenate

        documents = job.listing.documents
        held = _held(job)
        fresh = missing(job.listing, held)
        for one in job.old.directory.iterdir() if job.old is not None and held else ():
            if one.name in _REPLACED:
                shutil.copyfile(one, job.directory / one.name)
            elif one.name not in (*FILES, MANIFEST) and one.suffix != ".lock":
                carry(one, job.directory)
        earlier = [one.table for one in held]
        first = sum(map(len, earlier))
        rows = np.empty(len(fresh), ROW)
        index = tantivy.Index(_schema(), path=str(job.directory))
        writer = index.writer(_HEAP, 2)
        queued = 0
        for at, place in enumerate(fresh.tolist()):
            check(job.cancel)
            read = content(job.corpus, documents[place])
            entry = tantivy.Document()
            entry.add_unsigned("row", first + at)
            entry.add_text("title", read.title)
            entry.add_text("body", f"{read.title}\n{read.text}")
            writer.add_document(entry)
            size = len(read.text)
            rows[at] = (read.size, read.mtime_ns, read.digest, 0, size, size)
            queued += size
            if queued > _QUEUED:
                writer.commit()
                queued = 0
            job.report(len(documents) - len(fresh) + at + 1)
        writer.commit()
        writer.wait_merging_threads()
        for leftover in job.directory.glob(".tantivy-*.lock"):
            leftover.unlink()
        paths = Paths(b"\0".join(map(documents.paths.split().__getitem__, fresh.tolist())))
        return Built(concatenate([*earlier, Table(paths, rows)]), {})

    def open(self, part: Part, table: Table) -> LexicalSearcher:
        import tantivy

        try:
            index = tantivy.Index.open(str(part.directory))
            index.config_reader("manual")
            searcher = index.searcher()
        except (ValueError, OSError) as error:
            raise damaged(self.name, part.directory, str(error)) from None
        if searcher.num_docs != len(table):
            raise damaged(self.name, part.directory, f"{searcher.num_docs} of {len(table)} documents")
        return LexicalSearcher(index.schema, searcher)

    def sweep(self, directory: Path, facts: Mapping[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass


class LexicalSearcher:
    """A BM25 index that was opened."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._analyzer = _analyzer()

    def search(
        self, query: str, k: int, cancel: threading.Event | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        import numpy as np
        import tantivy

        parts: list[tuple[tantivy.Occur, tantivy.Query]] = []
        for word, count in sorted(Counter(self._analyzer.analyze(clean(query))).items()):
            for field, weight in (("title", TITLE_WEIGHT), ("body", 1.0)):
                term = tantivy.Query.term_query(self._schema, field, word, "freq")
                parts.append((tantivy.Occur.Should, tantivy.Query.boost_query(term, weight * count)))
        limit = min(k, self._searcher.num_docs)
        if not parts or not limit:
            return np.empty(0, np.int64), np.empty(0, np.float64)
        wanted = tantivy.Query.boolean_query(parts)
        while True:
            check(cancel)
            hits = self._searcher.search(wanted, limit, count=False).hits
            scores: NDArray[np.float64] = np.round([float(score) for score, _ in hits], 4)
            tie_is_cut = len(hits) == limit < self._searcher.num_docs and scores[k - 1] == scores[-1]
            if not tie_is_cut:
                break
            limit = min(limit * 2, self._searcher.num_docs)
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return np.array(rows, np.int64), scores

    def document_frequency(self, terms: Sequence[str]) -> list[int]:
        """For each term the number of documents with its stem in title or text, upper or lower case; of
        a term of several words, the number for its rarest word (an upper bound). Dead rows count."""
        found = []
        for term in terms:
            words = self._analyzer.analyze(clean(term))
            found.append(min((self._searcher.doc_freq("body", word) for word in words), default=0))
        return found


def rarity(frequency: int, documents: int) -> float:
    """BM25's inverse document frequency: never negative, largest for a word that no document has."""
    return math.log1p((max(0, documents - frequency) + 0.5) / (frequency + 0.5))


def _held(job: Job) -> list[Held]:
    """What of the earlier part is taken over: all of its rows, or none if it is worn."""
    if job.old_table is None:
        return []
    held = [hold(job, job.old_table)]
    rows = len(job.old_table) + len(missing(job.listing, held))
    return [] if worn(rows, len(job.listing.documents)) else held


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    for field in ("title", "body"):
        builder.add_text_field(field, tokenizer_name="en_stem", index_option="freq")
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    """The same chain as tantivy's ``en_stem``."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    chain = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (Filter.remove_long(_TOKEN_LENGTH), Filter.lowercase(), Filter.stemmer("english")):
        chain = chain.filter(step)
    return chain.build()
