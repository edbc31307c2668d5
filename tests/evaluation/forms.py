"""Small data sets in the forms in which others keep theirs."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

#: What names of files cannot hold, or hold twice where case and accents do not count.
AWKWARD = {
    "A/B: c": "first",
    "a\\b* C": "second",
    "日本 " * 100: "third",
    "..": "fourth",
    "": "fifth",
    'say "x" | <y>?': "sixth",
    "e\u0301tude": "seventh",
    "étude.txt": "eighth",
    "-rf\n": "ninth",
    "lone \ud800 half": "tenth",
    ".git": "eleventh",
}


def lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def beir(
    directory: Path,
    corpus: Mapping[str, str] = AWKWARD,
    qrels: str = "query-id\tcorpus-id\tscore\nq1\tA/B: c\t2\nq1\t..\t1\n",
    queries: Sequence[object] = ({"_id": "q1", "text": "Which comes first?"},),
) -> Path:
    directory.mkdir()
    rows = [{"_id": name, "title": "A title", "text": text} for name, text in corpus.items()]
    (directory / "corpus.jsonl").write_text(lines(rows))
    (directory / "queries.jsonl").write_text(lines(queries))
    (directory / "qrels.tsv").write_text(qrels)
    return directory


def packed(directory: Path) -> Path:
    """The same with a compressed corpus and judgements by split."""
    beir(directory)
    (directory / "corpus.jsonl.gz").write_bytes(gzip.compress((directory / "corpus.jsonl").read_bytes()))
    (directory / "corpus.jsonl").unlink()
    (directory / "qrels").mkdir()
    (directory / "qrels.tsv").rename(directory / "qrels" / "test.tsv")
    (directory / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\\b* C\t1\n")
    return directory


PAGES = {
    "news/A-1.html": "<html><pre>\n\nOn rounding\n\nNumbers are rounded.\n</pre></html>\n",
    "news/A-2.html": "<html><pre>\n\nOn compilers\n\nA compiler translates.\n</pre></html>\n",
    "old/A-3.txt": "On networks\n\nA network joins computers.\n",
}
TOPICS = "<DOC>\n<DOCNO> 01 </DOCNO>\n\n What is known of\nrounding &amp; numbers?\n \n</DOC>\n"
QRELS = "1 Q0 A-1 1\n1 Q0 A-9 1\n1 Q0 old/A-3.txt 0\n2 Q0 A-2 1\n"


def archive(file: Path, members: Mapping[str, str] = PAGES) -> Path:
    with tarfile.open(file, "w:gz") as out:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            out.addfile(member, io.BytesIO(text.encode()))
    return file


def trec(directory: Path, folder: bool = False) -> Path:
    directory.mkdir()
    if folder:
        for name, text in PAGES.items():
            (directory / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / "pages" / name).write_text(text)
    else:
        archive(directory / "pages.tar.gz")
    (directory / "topics.txt").write_text(TOPICS)
    (directory / "qrels.txt").write_text(QRELS)
    return directory
