"""What bash can read and is not available here, by tree-sitter's names, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

_LOOPS = "loops and conditions are not available here; give a program many files with xargs -d '\\n'."
_EXPANSION = "nothing is expanded here; write the value itself, or put the text in single quotes."
REASONS: Mapping[str, str] = {
    "simple_expansion": f"a variable stands in the command, and {_EXPANSION}",
    "expansion": f"a variable stands in the command, and {_EXPANSION}",
    "arithmetic_expansion": f"arithmetic stands in the command, and {_EXPANSION}",
    "command_substitution": "commands inside $(…) or backticks are not run here; run them on their own, "
    "or put the text in single quotes.",
    "process_substitution": "<(…) and >(…) are not available here; use a pipe.",
    "variable_assignment": "variables cannot be set here; leave the assignment out.",
    "variable_assignments": "variables cannot be set here; leave the assignment out.",
    "heredoc_redirect": "here-documents are not available here; use printf '%s\\n' … and a pipe.",
    "herestring_redirect": "here-strings are not available here; use printf '%s\\n' … and a pipe.",
    "subshell": "groups in (…) are not available here; write the commands one after another.",
    "compound_statement": "groups in {…} are not available here; write the commands one after another.",
    "function_definition": "functions cannot be defined here; write the commands one after another.",
    "for_statement": _LOOPS,
    "c_style_for_statement": _LOOPS,
    "while_statement": _LOOPS,
    "if_statement": _LOOPS,
    "case_statement": _LOOPS,
    "brace_expression": "{…} outside quotes would be expanded by bash; put the word in single quotes.",
    "extglob_pattern": "a file name pattern stands outside quotes; put it in single quotes.",
    "translated_string": '$"…" is not available here; use plain quotes.',
    "&": "nothing runs in the background here; leave the & out.",
    "unset_command": "variables cannot be changed here; leave the command out.",
    "declaration_command": "variables cannot be set here; leave the command out.",
}
