"""A generated corpus for measurements: any number of documents, with words whose frequency is known."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

#: Words that the text itself cannot hold, and where they stand: in every 4th and every 100th document, in
#: the best-ranked 1 %, nowhere.
COMMON, RARE, BEST, ABSENT = "kestrel", "osprey", "merlin", "quetzal"
_VOCABULARY, _LINE = 5_000, 12
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mu", "ne", "pa", "ro", "sa", "tu")


@dataclass(frozen=True, slots=True)
class Generated:
    """The corpus below ``root``, and a scope of it: paths in an order of their own, best first."""

    root: Path
    scope: tuple[str, ...]


def generate(
    root: Path, *, documents: int, directories: int, words: int, scope: int, seed: int = 1
) -> Generated:
    """Write ``documents`` of about ``words`` words into ``directories`` below ``root``. Word frequencies
    follow Zipf's law. The same arguments give the same bytes."""
    chance = random.Random(seed)
    text = _text(chance, max(200_000, 4 * words))
    folders = [f"{at // 300:03d}/{at % 300:03d}" for at in range(directories)]
    for folder in folders:
        (root / folder).mkdir(parents=True)
    paths = [f"{folders[at % directories]}/document-{at:06d}.txt" for at in range(documents)]
    order = chance.sample(range(documents), min(scope, documents))
    best = frozenset(order[: len(order) // 100])
    for at, path in enumerate(paths):
        begin = chance.randrange(len(text) - words)
        lines = [" ".join(text[line : line + _LINE]) for line in range(begin, begin + words, _LINE)]
        for marked, word in ((at % 4 == 0, COMMON), (at % 100 == 0, RARE), (at in best, BEST)):
            if marked:
                lines.insert(len(lines) // 2, f"here {word} stands in a line of its own")
        (root / path).write_text("\n".join(lines) + "\n")
    return Generated(root, tuple(paths[at] for at in order))


def _text(chance: random.Random, length: int) -> list[str]:
    vocabulary = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(_VOCABULARY)]
    weights = [1 / rank for rank in range(1, _VOCABULARY + 1)]
    return chance.choices(vocabulary, weights, k=length)
