"""echo and printf, as far as the installed programs print what those built into bash would."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from rarg_tui.search.refusal import CommandError, Refused, named

_ITSELF = "write an odd character itself"
#: What bash's echo -e reads in another way.
_ODD_ECHO = re.compile(r"\\(?:\\|(?P<odd>[1-7uUE]))")
#: A directive or an escape of a format. A longer width would fill memory and pipes with blanks.
_FORMAT = re.compile(
    r"\\(?:[^cuUE'?x]|x[0-9A-Fa-f])|%(?:%|[-+ #0']*[0-9]{0,4}(?:\.[0-9]{0,4})?[hljLtz]*[diouxXfFeEgGaAcsb])",
    re.DOTALL,
)


def read_echo(words: Sequence[str]) -> list[str]:
    """The words after ``echo`` as the program must be given them. Raises :class:`Refused`."""
    flags = "".join(takewhile(lambda word: re.fullmatch(r"-[neE]+", word), words))
    if flags.rfind("e") > flags.rfind("E"):
        for found in _ODD_ECHO.finditer("\n".join(words)):
            if found["odd"]:
                raise Refused(f"echo -e cannot be given {found[0]} here; {_ITSELF}.")
    # Alone, these two would be options to the program.
    return ["-E", *words] if list(words) in (["--help"], ["--version"]) else list(words)


def read_printf(words: Sequence[str]) -> list[str]:
    """The words after ``printf``. Raises :class:`Refused` and :class:`CommandError`."""
    rest = list(words[1:] if words and words[0] == "--" else words)
    if not rest:
        raise CommandError("printf lacks its format; write printf '%s\\n' TEXT.")
    if rest == list(words) and re.match("-.", rest[0]):
        raise Refused(f"printf {named(rest[0])} is not available here; write printf '%s\\n' TEXT.")
    left = _FORMAT.sub("", rest[0])
    if (at := re.search(r"[%\\]", left)) is not None:
        odd = named(left[at.start() : at.start() + 12])
        raise Refused(
            f"printf cannot be given {odd} here; use %s, %d and the like in widths up to 9999, write %% "
            f"for a percent sign, and {_ITSELF}."
        )
    return list(words)
