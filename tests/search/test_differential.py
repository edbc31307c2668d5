"""The ordered engine against ONE rg over the same list: every output option, in pairs and in crowds, with
tails, across our own batch borders.

A sample runs always. ``RARG_TEST_COMMANDS=2000 pytest -n 0 -k every_pair tests/search`` runs all pairs of
options, and so many commands in all; ``RARG_TEST_CORPUS=DIRECTORY:WORD`` adds a corpus to the two it has.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarg_tui.search.batches import BatchSizes
from rarg_tui.search.context import ShellLimits, ShellResult
from rarg_tui.search.rg import find_rg
from rarg_tui.search.shell import run
from tests import hostile
from tests.search.differential import Difference, Runner
from tests.search.random_corpus import Corpus, adopt, build
from tests.search.scene import context, write
from tests.search.searches import ORDERS, OTHERS, SHAPES, Command, Commands, Shape, Words, joined

# Read now: a test sees none of our variables.
LONG = int(os.environ.get("RARG_TEST_COMMANDS", "0"))
OTHER = os.environ.get("RARG_TEST_CORPUS", "")
SAMPLE = 110
SEED = 20

Corpora = Callable[[str], tuple[Commands, Runner]]


def random_corpus(root: Path) -> Corpus:
    return build(root, SEED)


def hostile_corpus(root: Path) -> Corpus:
    hostile.make(root)
    return adopt(root, hostile.WORD)


def other_corpus(root: Path) -> Corpus:
    source, _, word = OTHER.rpartition(":")
    shutil.copytree(source, root, symlinks=True, dirs_exist_ok=True, copy_function=_copy_file)
    return adopt(root, word)


def _copy_file(source: str, target: str) -> None:
    if os.path.isfile(source):
        shutil.copyfile(source, target)


MAKERS: dict[str, Callable[[Path], Corpus]] = {"random": random_corpus, "hostile": hostile_corpus}
LONG_MAKERS = {**MAKERS, "other": other_corpus} if OTHER else MAKERS


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    """The searches in a corpus, and what runs them, by its name."""
    made: dict[str, Corpus] = {}
    base = tmp_path_factory.mktemp("differential")

    def get(name: str) -> tuple[Commands, Runner]:
        if name not in made:
            (base / name).mkdir()
            made[name] = LONG_MAKERS[name](base / name)
        return Commands(made[name], random.Random(SEED)), Runner(made[name], base / f"run-{name}")

    return get


@pytest.mark.parametrize("name", MAKERS)
def test_a_sample_is_what_one_rg_prints(name: str, corpora: Corpora) -> None:
    commands, runner = corpora(name)
    differences: list[Difference] = []
    accepted = 0
    for number in range(SAMPLE):
        command = commands.any() if number % 2 else commands.of(commands.rng.choices(SHAPES, k=2))
        differences += judged(command, commands, runner)
        accepted += runner.accepted
    assert not differences, said(differences)
    assert accepted > SAMPLE * 0.7


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(
    shapes=st.lists(st.sampled_from(SHAPES + OTHERS), max_size=5),
    first=st.integers(1, 9),
    growth=st.integers(1, 3),
    seed=st.integers(0, 1 << 16),
)
def test_whatever_the_batches(
    corpora: Corpora, shapes: list[Shape], first: int, growth: int, seed: int
) -> None:
    commands, runner = corpora("random")
    commands.rng.seed(seed)
    command = commands.of(shapes)
    paths = commands.paths(command)[:30]
    sizes = BatchSizes(first=first, growth=growth, most=9 * growth)
    differences = list(runner.differences(command, paths, sizes))
    assert not differences, said(differences)


@pytest.mark.skipif(not LONG, reason="RARG_TEST_COMMANDS names no number of searches")
@pytest.mark.parametrize("name", LONG_MAKERS)
def test_every_pair(name: str, corpora: Corpora, capsys: pytest.CaptureFixture[str]) -> None:
    commands, runner = corpora(name)
    differences: list[Difference] = []
    covered: set[tuple[str, str]] = set()
    ran = 0

    def judge(command: Command) -> None:
        nonlocal ran
        ran += 1
        differences.extend(judged(command, commands, runner))
        if runner.accepted:
            covered.update(command.pairs)

    pairs = {(one.name, two.name): (one, two) for one in SHAPES for two in SHAPES}
    for pair in pairs.values():
        judge(commands.of(pair))
    while ran < LONG / len(LONG_MAKERS):
        judge(commands.any())
    possible = {names for names, pair in pairs.items() if accepts(pair, runner.corpus)}
    # A pair may have met only patterns that rg does not take with it.
    for names in sorted(possible - covered) * 20:
        if names not in covered:
            judge(commands.of(pairs[names]))
    with capsys.disabled():
        unordered = len({frozenset(names) for names in covered})
        print(
            f"\n{name}: {ran} commands; of {len(SHAPES)} options {len(covered)} of {len(possible)} ordered "
            f"pairs ({unordered} unordered); {len(differences)} differences"
        )
    assert not differences, said(differences)
    assert covered == possible


def judged(command: Command, commands: Commands, runner: Runner) -> list[Difference]:
    paths = commands.paths(command)
    return list(runner.differences(command, paths, commands.sizes(paths)))


def said(differences: list[Difference]) -> str:
    return "\n".join([f"{len(differences)} differences", *map(str, differences[:8])])


def accepts(pair: tuple[Shape, Shape], corpus: Corpus) -> bool:
    """Whether rg itself takes these two options together."""
    values = {"-e": corpus.word, "-f": corpus.pattern_files[0]}
    words = [
        word
        for shape in pair
        for word in (shape.long, *((values.get(shape.name, shape.values[0]),) if shape.values else ()))
    ]
    argv = [find_rg().path, "--no-config", *words, "-e", corpus.word, "--", os.devnull]
    return subprocess.run(argv, cwd=corpus.root, capture_output=True, check=False).returncode != 2


@pytest.mark.parametrize(
    "options",
    [
        "",
        "-n",
        "-i",
        "-v",
        "-m1",
        "-c",
        "-l",
        "--files-without-match",
        "-o",
        "-C1",
        "-n --heading",
        "--vimgrep",
    ],
)
def test_no_other_order_than_the_scopes(options: str, tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    paths = [f"{name}.txt" for name in "gbkaldjcfhie"]
    write(root, {path: "a bird\nno\n" * (at % 3) for at, path in enumerate(paths)})
    for age, path in enumerate(sorted(paths)):
        os.utime(root / path, (10_000 - age, 10_000 - age))
    limits = ShellLimits(pool=1 << 20, shown=1 << 20, output_bytes=1 << 24, output_lines=1 << 20)
    here = context(root, tmp_path / "run", paths, limits=limits)

    def result(order: Words) -> ShellResult:
        words = ["rg", *order, *options.split(), "bird"]
        return run(f"cat scope_1.txt | xargs -d '\\n' {joined(words)}", here)

    argv = [find_rg().path, "-j1", "--no-config", "-H", "-n", *options.split(), "bird", "--", *paths]
    printed = subprocess.run(argv, cwd=root, capture_output=True, check=False, text=True).stdout
    in_order = list(dict.fromkeys(re.findall(r"^[a-z]\.txt", printed, re.MULTILINE)))
    usual = result(())
    assert list(dict.fromkeys(re.findall(r"^[a-z]\.txt", usual.observation, re.MULTILINE))) == in_order
    assert in_order == [path for path in paths if path in in_order]
    for order in ORDERS:
        other = result(order)
        assert (other.state, other.exit_code) == ("ok", 0)
        assert other.observation == usual.observation
        assert other.pool == usual.pool
