"""Searches of every kind for the differential test: rg's options in all pairs, patterns, tails, scopes and
batch sizes, deterministic by seed."""

from __future__ import annotations

import os
import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rarg_tui.search.batches import BatchSizes
from tests.search.random_corpus import Corpus

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """An option: its names, and the values to try; none when it takes none."""

    short: str
    long: str
    values: Words = ()

    @property
    def name(self) -> str:
        return self.short or self.long

    def spelled(self, rng: random.Random) -> Words:
        """The option as somebody might type it."""
        name = rng.choice([name for name in (self.short, self.long) if name])
        if not self.values:
            return (name,)
        value = rng.choice(self.values)
        attached = f"{name}={value}" if name == self.long else name + value
        if not value or value.startswith("=") or rng.random() < 0.5:
            return (name, value)
        return (attached,)


def _shapes(*rows: str) -> tuple[Shape, ...]:
    return tuple(
        Shape(short if short != "." else "", long, tuple(value.strip("'") for value in values))
        for short, long, *values in (row.split() for row in rows)
    )


#: Every option that shapes the output, and may be combined with every other one.
SHAPES = _shapes(
    "-n --line-number", "-N --no-line-number", "-H --with-filename", "-I --no-filename", "-i --ignore-case",
    "-S --smart-case", "-s --case-sensitive", "-F --fixed-strings", "-w --word-regexp", "-x --line-regexp",
    "-v --invert-match", "-o --only-matching", "-c --count", ". --count-matches", "-l --files-with-matches",
    ". --files-without-match", "-A --after-context 0 1 2", "-B --before-context 0 1 2",
    "-C --context 0 1 3", "-m --max-count 1 2 5", "-e --regexp PATTERN", "-f --file FILE",
    "-r --replace X <$0> $1 ${name}- a$$b → -- ''", "-P --pcre2", "-U --multiline", ". --column",
    ". --vimgrep", "-g --glob *.md !*.txt *nowhere*", "-t --type md txt py", ". --heading", ". --trim",
    "-a --text",
)  # fmt: skip
#: Others that may stand between them.
OTHERS = _shapes(
    ". --no-heading", ". --context-separator ## \\t\\x3d ''", ". --no-context-separator", ". --passthru",
    "-b --byte-offset", "-0 --null", "-M --max-columns 20 200", ". --max-columns-preview",
    ". --null-data", ". --crlf", ". --no-crlf", ". --include-zero", ". --stop-on-nonmatch",
    ". --multiline-dotall", "-q --quiet", "-E --encoding latin1 utf-16le none",
    ". --field-match-separator | ::", ". --field-context-separator |", ". --path-separator +",
    ". --no-unicode", ". --binary", ". --no-text", "-. --hidden", "-u --unrestricted",
    ". --no-invert-match", ". --no-multiline", ". --no-column", ". --no-fixed-strings",
)  # fmt: skip
#: What a model gives to make it faster, or to have another order: ours to decide.
ORDERS: tuple[Words, ...] = (
    ("--threads=4",), ("-j", "8"), ("-j8",), ("--sort", "path"), ("--sort=modified",),
    ("--sortr", "modified"), ("--sortr=path",), ("--sort-files",), ("--mmap",), ("--line-buffered",),
)  # fmt: skip
_XARGS = (
    "cat scope_1.txt | xargs -d '\\n'", "cat scope_1.txt | xargs -d '\\n'", "xargs -a scope_1.txt -d '\\n'",
    "cat scope_1.txt | xargs -d '\\n' -n 5 -r", "cat scope_1.txt | xargs -P 4 -d '\\n'",
    "cat scope_1.txt | tr '\\n' '\\0' | xargs -0",
)  # fmt: skip

#: Programs that rg's output is piped through; WORD is a word of the corpus.
_TAILS = (
    "head", "head -n 3", "head -5", "head -n -2", "head -c 100", "tail", "tail -n 2", "tail -n +3",
    "tail -1", "sed -n 2,4p", "sed -n /WORD/p", "sed -n $p", "sed -n s/a/A/gp", "sort", "sort -u",
    "sort -r", "sort -t: -k2", "uniq", "uniq -c", "uniq -d", "wc", "wc -l", "wc -c", "cut -d: -f1",
    "cut -d: -f2-", "cut -c1-20", "cut -b1-5 -s", "rg bird", "rg -c a", "rg -n -i the", "rg -v :",
    "rg -o -w a", "grep bird", "grep -c a", "grep -n -A1 the", "grep -v -F -e -", "sort | uniq -c",
    "sort | uniq -c | sort -rn | head -n 4", "cut -d: -f1 | sort -u | wc -l", "rg a | head -n 2",
    "head -n 40 | tail -n 20 | sed -n 1,5p",
)  # fmt: skip

#: The largest document for options that are slow on long lines, bytes.
_LARGEST = {"--vimgrep": 2_000, "-o": 300_000, "-U": 300_000}


@dataclass(frozen=True, slots=True)
class Command:
    """A search: ``options`` as typed, the ``pattern`` unless options hold it, what its output is piped
    through, an ``order`` that is asked for in vain, and how ``xargs`` starts it. ``shapes``: the names of
    its options, in order."""

    options: Words
    shapes: Words
    pattern: str | None
    tail: tuple[Words, ...] = ()
    order: Words = ()
    xargs: str = _XARGS[0]
    dashed: bool = False

    @property
    def reference(self) -> list[str]:
        """The words of the one rg, up to the paths."""
        return [*self.options, *(() if self.pattern is None else ("-e", self.pattern))]

    @property
    def typed(self) -> list[str]:
        """The words after ``rg`` as a person or a model gives them to us."""
        words = [*self.order, *self.options]
        if self.pattern is None:
            return words
        return [*words, *(("--",) if self.dashed or self.pattern.startswith("-") else ()), self.pattern]

    @property
    def text(self) -> str:
        steps = [f"{self.xargs} {joined(['rg', *self.typed])}", *map(joined, self.tail)]
        return " | ".join(steps)

    @property
    def pairs(self) -> set[tuple[str, str]]:
        names = [name for name in self.shapes if name in NAMES]
        return {(first, second) for at, first in enumerate(names) for second in names[at + 1 :]}


NAMES = tuple(shape.name for shape in SHAPES)


def joined(words: Sequence[str]) -> str:
    """``words`` as bash would read them, bytes that are no text included."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(f"\\x{byte:02x}" for byte in os.fsencode(word)) + "'"


@dataclass
class Commands:
    """Searches for ``corpus``."""

    corpus: Corpus
    rng: random.Random

    @cached_property
    def patterns(self) -> Words:
        word = self.corpus.word
        half = word[: len(word) // 2]
        return (
            word, word, word.lower(), f"(?i){word}", f"{half}(?P<name>{word[len(half):]})",
            f"(?:{word}|bird)", f"^{word}", "here$", "nowhere in it", "bird", ".", "", "^", "$", "^$",
            "x*", f"{half}?", "[^a]", r"\w+", r"\s", "é", "漢字|🧭", "[é-漢]", "e\u0301", r"(?-u)\xff",
            r"(?-u:\xe6|\xc3)", r"\p{Lu}", r"\bthe\b", "-", "--", "-1", "$1", r"\(", "a:b",
            rf"{word}\s+\w", r"n.*\n.*e", rf"(?s){word}.*?\n", r"\n", f"(?x) {word}", "(a)(b)?",
            f"{word}|", "[[:upper:]]{3,}", r"\t", r"(?m)^.*$", "(", r"(?<=Q)u", "\\x00",
            os.fsdecode(b"\xff"),
        )  # fmt: skip

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The size of each document, bytes."""
        return {path: (self.corpus.root / path).stat().st_size for path in self.corpus.paths}

    @cached_property
    def tails(self) -> tuple[tuple[Words, ...], ...]:
        lines = [line.replace("WORD", self.corpus.word).split("|") for line in _TAILS]
        return tuple(tuple(tuple(shlex.split(step)) for step in line) for line in lines)

    def any(self) -> Command:
        """A search with up to seven options; some of them say which of several patterns comes first."""
        shapes = self.rng.choices(SHAPES, k=self.rng.randrange(6))
        if self.rng.random() < 0.1:
            names = self.rng.choice(
                ["-f -e -o", "-e -f -r", "-f -e --column", "-e -e -o", "-f -f -r"]
            ).split()
            shapes = [*shapes[:3], *(shape for name in names for shape in SHAPES if shape.name == name)]
        if self.rng.random() < 0.4:
            shapes.insert(self.rng.randrange(len(shapes) + 1), self.rng.choice(OTHERS))
        return self.of(shapes)

    def paths(self, command: Command) -> list[str]:
        """A scope: all documents in some order, or a few, awkward ones first; sometimes one twice, or one
        that has vanished. No long lines where rg itself prints them once for each match in them, or takes
        the square of their length."""
        rng, corpus = self.rng, self.corpus
        largest = min(_LARGEST.get(name, 1 << 30) for name in ("", *command.shapes))
        every = [path for path in corpus.paths if self.lengths[path] <= largest]
        if rng.random() < 0.3:
            return rng.sample(every, k=len(every))
        awkward = [path for path in corpus.awkward if self.lengths[path] <= largest]
        few = rng.choices(awkward, k=rng.randrange(1, 7)) + rng.sample(every, k=rng.randrange(6))
        if rng.random() < 0.08:
            few.append("vanished.txt")
        rng.shuffle(few)
        return few

    def sizes(self, paths: Sequence[str]) -> BatchSizes:
        few = len(paths) < 20
        first, growth, most = self.rng.choice(
            [(1, 1, 1), (2, 1, 2), (3, 1, 3), (1, 2, 4)] if few else [(7, 1, 7), (1, 3, 30), (20, 1, 20)]
        )
        return BatchSizes(first=first, growth=growth, most=most)

    def of(self, shapes: Sequence[Shape]) -> Command:
        """A search with these options, in this order."""
        rng = self.rng
        options: list[str] = []
        for shape in shapes:
            values = {"-e": self.patterns, "-f": self.corpus.pattern_files}.get(shape.name, shape.values)
            options += Shape(shape.short, shape.long, values).spelled(rng)
        names = tuple(shape.name for shape in shapes)
        pattern = None if {"-e", "-f"} & set(names) else rng.choice(self.patterns)
        tail = rng.choice(self.tails) if rng.random() < 0.4 else ()
        order = rng.choice(ORDERS) if rng.random() < 0.2 else ()
        return Command(
            tuple(options), names, pattern, tail, order, rng.choice(_XARGS), dashed=rng.random() < 0.2
        )
