"""Words and names: what the offline planner can find in a text without knowing its language."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: English function words; in other languages rarity alone has to tell what carries meaning.
STOP_WORDS = _listed(
    "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing down during each either else ever every few for from "
    "further had has have having he her here hers him his how i if in into is it its itself just lot many me "
    "more most much my myself near no nor not now of off on once one only onto or other others our out over "
    "own same she should so some such than that the their theirs them themselves then there these they this "
    "those through to too under until up upon us very was we were what when where whether which while who "
    "whom whose why will with would yes you your"
)

#: Lower-case words that may stand inside a name: "Duke of York", "Ludwig van Beethoven".
_JOINING = _listed("of the de der den van von du des da di do dos del della af bin ibn bint al el y ap")

#: Words before a number that make it part of a name: "Marchbanks No. 771".
_NUMBER = _listed("no nr nos num number nummer nº n° lot op")

#: Forms of address, which stand before a name and are not part of it; the abbreviated ones end in a
#: full stop that ends no sentence.
_ADDRESS = _listed(
    "mr mrs miss ms mlle mme messrs dr rev revd capt captain lt lieut lieutenant col gen prof professor sir "
    "madame monsieur herr hr frau frl fräulein fru signor signora señor señora st jr sr"
)

#: Capitalised words that name a time, not a thing.
_CALENDAR = _listed(
    "january february march april may june july august september october november december januar februar "
    "märz mai juni juli oktober dezember monday tuesday wednesday thursday friday saturday sunday montag "
    "dienstag mittwoch donnerstag freitag samstag sonntag michaelmas easter christmas"
)

#: Signs that belong to the letter before them, for ripgrep as for readers, but not for Python's ``\\w``:
#: accents set apart, vowel signs of Hebrew, Arabic, the Indic scripts, Thai, Lao, Tibetan and Burmese.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u1ab0-\u1aff\u20d0-\u20ff\u3099\u309a"
)
_KANA_HAN = "\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    r"[^\W\d_]{1,5}[-/.]?\d(?:[\d/.-]*\d)?(?!\w)|"  # inventory numbers: HO-1147, P-8817
    r"[\u3041-\u309f]+|[\u30a0-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+|"  # scripts that run on without spaces
    rf"(?:(?![{_KANA_HAN}])[\w{_MARKS}])+"
)
_TAG = re.compile(r"<[^<>\n]{0,300}>")
_BREAK = re.compile(r"[^\s.'’&-]|\n\s*\n")
_QUOTED = re.compile(
    r"(?<!\w)[\"“„](?=\S)([^\"“”„\n]{3,80}?)(?<=\S)[\"”“](?!\w)|«\s*([^«»\n]{3,80}?)\s*»|[「『]([^「」『』\n]{2,40})[」』]"
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"'”’)\]]*[^\S\n]*\n?[^\S\n]*(?<=\s)(?=[\"'“‘(\[¿¡]*[^\W_a-z])|(?<=[。！？])|\n\s*\n|"
    r"\n(?=[^\S\n]*(?:[-*•#>|]|\d{1,3}[.)])[^\S\n])"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“])(?:[^\W\d_]|[A-ZÀ-Þ][^\W\d_]{0,3}|[Nn]os?|vols?|pp?|ca?)\.[\"'”’)\]]*\s*$"
)
_ROMAN = re.compile(r"[IVXLCDM]+(?: [IVXLCDM]+)*")
#: Longer ones first: the first that fits is taken.
_SUFFIXES = tuple(
    sorted(
        _listed("ations ation ments ment ings ing ists ist ions ion ors or ers er ies ied ed es ly s e y"),
        key=lambda suffix: (-len(suffix), suffix),
    )
)
_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, where it stands, and its form without case and without its ending."""

    text: str
    start: int
    end: int
    folded: str
    stem: str


@dataclass(frozen=True, slots=True)
class Name:
    """Words that stand together as a name. ``at`` is the number of its first token in its text;
    ``doubtful`` marks a single word that may owe its capital to the beginning of a sentence."""

    words: tuple[str, ...]
    text: str
    at: int
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the line, from 1, that it begins on."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence in words: ``content`` are the stems that carry meaning, in order, ``stems`` the same as a
    set."""

    tokens: tuple[Token, ...]
    words: frozenset[str]
    content: tuple[str, ...]
    stems: frozenset[str]
    names: tuple[Name, ...]


def plain(text: str) -> str:
    """``text`` without HTML tags and entities; line breaks stay, so line numbers hold."""
    return html.unescape(_TAG.sub(" ", text)) if "<" in text or "&" in text else text


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The beginning that the forms of a word share, roughly: restored, restorer → restor."""
    whole = folded(word)
    for suffix in _SUFFIXES:
        if whole.endswith(suffix) and len(whole) - len(suffix) >= _SHORTEST_STEM:
            return whole[: len(whole) - len(suffix)]
    return whole


def folded(word: str) -> str:
    """``word`` without case, and with its accents in one piece. Not casefolded: "ß" must stay what
    ripgrep can find."""
    return word.lower() if word.isascii() else unicodedata.normalize("NFC", word.lower())


@lru_cache(maxsize=65536)
def is_content(word: str) -> bool:
    """Whether a word can carry meaning: not a function word, not a lone letter of an alphabet."""
    return word.lower() not in STOP_WORDS and (len(word) > 1 or word.isdigit() or _is_han(word))


def unspaced(word: str) -> bool:
    """Whether ``word`` is of a script that sets no spaces, where word boundaries mean nothing."""
    return any("\u0e00" <= c <= "\u0eff" or "\u3041" <= c <= "\u30ff" or _is_han(c) for c in word)


def tokens(text: str) -> tuple[Token, ...]:
    return tuple(
        Token(m.group(), m.start(), m.end(), folded(m.group()), stem(m.group()))
        for m in _TOKEN.finditer(text)
    )


@lru_cache(maxsize=16384)
def parse(text: str) -> Parsed:
    """``text``, one sentence, in words and names."""
    found = tokens(text)
    words = frozenset(token.folded for token in found)
    content = tuple(token.stem for token in found if is_content(token.text))
    return Parsed(found, words, content, frozenset(content), tuple(_names(text, found)))


@lru_cache(maxsize=4096)
def sentences(text: str, first_line: int = 1) -> tuple[Sentence, ...]:
    """The sentences of ``text``, each on one line; a blank line ends a sentence, a line break does not."""
    result: list[Sentence] = []
    start = 0
    ends = [(m.start(), m.end()) for m in _SENTENCE_END.finditer(text)]
    for begin, stop in [*ends, (len(text), len(text))]:
        if begin < len(text) and "\n" not in text[begin:stop] and _ABBREVIATION.search(text[start:begin]):
            continue
        piece = text[start:begin]
        if piece.strip():
            lead = len(piece) - len(piece.lstrip())
            result.append(Sentence(" ".join(piece.split()), first_line + text.count("\n", 0, start + lead)))
        start = stop
    return tuple(result)


def word_pattern(word: str) -> str:
    """A pattern for a whole word."""
    return escape(word) if unspaced(word) else rf"\b{escape(word)}\b"


def stem_pattern(begin: str) -> str:
    """A pattern for any word that begins so."""
    return escape(begin) if unspaced(begin) else rf"\b{escape(begin)}"


def phrase_pattern(words: Sequence[str]) -> str:
    """A pattern for words that follow each other, whatever but letters stands between them."""
    if any(unspaced(word) for word in words):
        return r"\W*".join(map(escape, words))
    return r"\b" + r"\W+".join(map(escape, words)) + r"\b"


def escape(text: str) -> str:
    """``text`` as a pattern that matches nothing else."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _is_han(text: str) -> bool:
    return "\u3400" <= text[0] <= "\u9fff" or "\uf900" <= text[0] <= "\ufaff"


def _is_caseless(word: str) -> bool:
    return word[0].isalpha() and word.lower() == word.upper() and not "\u3041" <= word[0] <= "\u309f"


def _can_begin(word: str) -> bool:
    return word[0].isupper() or word[0].istitle() or (word[0].isalpha() and word[-1].isdigit())


def _names(text: str, found: Sequence[Token]) -> list[Name]:
    """Runs of capitalised words, inventory numbers, quoted titles, and single words of scripts that have
    no capitals. A run is broken by punctuation and by common words."""
    result: list[Name] = []
    run: list[int] = []
    for i, token in enumerate(found):
        if run and _breaks(text, found[i - 1], token):
            result += _closed(text, found, run)
            run = []
        goes_on = token.folded in _JOINING or (token.text.isdigit() and found[i - 1].folded in _NUMBER)
        if (_can_begin(token.text) and token.folded not in _CALENDAR) or (run and goes_on):
            run.append(i)
        else:
            if run:
                result += _closed(text, found, run)
                run = []
            if _is_caseless(token.text) and len(token.text) > 1:
                result.append(_name(text, found, [i]))
    if run:
        result += _closed(text, found, run)
    for quoted in _QUOTED.finditer(text):
        start, end = quoted.span(quoted.lastindex or 0)
        inside = [i for i, token in enumerate(found) if start <= token.start and token.end <= end]
        if 0 < len(inside) <= 10 and not found[inside[0]].text[0].islower():
            result.append(_name(text, found, inside))
    return result


def _breaks(text: str, before: Token, after: Token) -> bool:
    """Whether a name ends between two words: at punctuation, and at a full stop that shortens nothing."""
    if _BREAK.search(text, before.end, after.start):
        return True
    shortened = len(before.text) == 1 or before.folded in _ADDRESS or before.folded in _NUMBER
    return "." in text[before.end : after.start] and not shortened


def _closed(text: str, found: Sequence[Token], run: list[int]) -> list[Name]:
    """The names of a run: without function words at its ends, and cut at a joining word that follows a
    name of two words, since "Ilse Brandt of Kaltenried" names a person and a place."""
    pieces: list[list[int]] = [[]]
    for i in run:
        if found[i].text in _JOINING and len(pieces[-1]) >= 2:
            pieces.append([])
        else:
            pieces[-1].append(i)
    names = []
    for piece in pieces:
        while piece and found[piece[-1]].folded in STOP_WORDS | _JOINING:
            piece.pop()
        while piece and found[piece[0]].folded in STOP_WORDS | _JOINING | _ADDRESS:
            piece.pop(0)
        if piece and _ROMAN.fullmatch(" ".join(found[i].text for i in piece)):
            continue
        if any(_can_begin(found[i].text) and is_content(found[i].text) for i in piece):
            names.append(_name(text, found, piece))
    return names


def _name(text: str, found: Sequence[Token], run: Sequence[int]) -> Name:
    shown = " ".join(text[found[run[0]].start : found[run[-1]].end].split())
    doubtful = len(run) == 1 and run[0] == 0 and found[0].text[1:].islower()
    return Name(tuple(found[i].text for i in run), shown, run[0], doubtful)
