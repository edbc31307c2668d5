"""The offline planner's answer: the best evidence sentences and their documents."""

from __future__ import annotations

from rarg_tui.agent import planner_terms as terms
from rarg_tui.agent.model import Reply, Request
from rarg_tui.agent.planner_evidence import Evidence
from rarg_tui.agent.planner_moves import MOST_CITED, as_calls
from rarg_tui.agent.planner_shown import Fact

_HEAD = "Offline planner: evidence, not prose."
_LONGEST = 400
#: Words that make a sentence; a line of fewer, a heading, gives way to one that says more.
_SENTENCE = 6
#: The weight that makes a sentence evidence.
_LEAST = 0.1


def answer(evidence: Evidence, request: Request) -> Reply:
    """The final reply: one sentence a document, best first, then the documents. A ranking is filled up to
    ten with what else was seen, in the order it was seen. Where a call ends the run, it is that call."""
    documents = evidence.ranking()
    if request.profile.answer_form != "ranking":
        documents = [path for path in documents if evidence.weight_of(path) >= _LEAST]
    else:
        documents += [path for path in evidence.shown if path not in documents]
    documents = documents[:MOST_CITED]
    if not documents:
        return Reply(f"{_HEAD}\nNo evidence found.")
    facts = [fact for fact in (_evident(evidence, path) for path in documents) if fact]
    sentences = [f"- {_short(fact.text)}  [{fact.path}:{fact.line}]" for fact in facts]
    text = "\n".join([_HEAD, *sentences, "", "Documents:", *documents])
    closing = request.strategy.closing
    if not closing:
        return Reply(text)
    results = {"doc_ids": documents, "message": text, "search_successful": "partial"}
    return Reply("", calls=as_calls(request.state, [(closing, results)]))


def _evident(evidence: Evidence, path: str) -> Fact | None:
    def worth(item: tuple[Fact, float]) -> float:
        fact, weight = item
        return weight * min(1.0, len(terms.parse(fact.text).tokens) / _SENTENCE)

    return max(evidence.best(path), key=worth, default=(None, 0.0))[0]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
