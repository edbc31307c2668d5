"""A small corpus with known ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rarg_tui.corpus.files import Corpus
from rarg_tui.relevance.index import Index

BIRDS = {
    "birds/quetzal.txt": "The resplendent quetzal\n\nThe quetzal lives in the cloud forests of Guatemala. "
    "Its tail feathers are long and green.\n",
    "birds/heron.txt": "The grey heron\n\nHerons stand in shallow water and wait for fish.\n",
    "birds/owl.txt": "The barn owl\n\nOwls hunt mice at night. A barn owl hears better than it sees.\n",
    "tools/lathe.txt": "The lathe\n\nA lathe turns wood or metal against a cutting edge.\n",
    "tools/loom.md": "# The loom\n\nA *loom* weaves thread into cloth; the weaver throws the shuttle.\n",
    "tools/clock.html": "<html><title>Clocks</title><p>A pendulum keeps the time of a clock.</p></html>\n",
    "untitled.txt": "water water water",
    "empty.txt": "",
}


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    """The root of the small corpus."""
    root = tmp_path / "birds"
    for name, text in BIRDS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Callable[..., Index]]:
    """Opens indexes with their cache in ``tmp_path``, and closes them."""
    opened: list[Index] = []

    def open_one(root: Path, cache: Path = tmp_path / "cache") -> Index:
        index = Index.open(Corpus(root), cache)
        opened.append(index)
        return index

    yield open_one
    for index in opened:
        index.close()
