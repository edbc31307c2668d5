"""Three documents that lead from one to the next."""

from __future__ import annotations

from pathlib import Path

DOCUMENTS = {
    "letters/a.txt": "The orrery\n\nThe orrery was mended by Ilse Brandt in 1912.\n",
    "letters/b.txt": "Of the pupils of Ilse Brandt the last was Matthias Ohlendorf.\n",
    "notes/c d.txt": "Matthias Ohlendorf opened his shop at 9 Fishbone Lane.\nThe price of eggs is high.\n",
}


def write(root: Path) -> Path:
    for name, text in DOCUMENTS.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root
