"""The façade: what the command line and the workbench's screens can do, and nothing else.

What the first paint of the workbench does not need is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from threading import Event as Cancel
from typing import TYPE_CHECKING, Any

from rarg_tui import __version__, consent, paths
from rarg_tui.agent import profiles, strategies
from rarg_tui.agent.hosted import DEFAULT_MODEL, OFFLINE, Hosted
from rarg_tui.agent.profiles import Profile
from rarg_tui.agent.strategies import Strategy
from rarg_tui.config import Settings
from rarg_tui.corpus.files import Corpus
from rarg_tui.corpus.progress import Progress
from rarg_tui.errors import RargError
from rarg_tui.evaluation.datasets import Question, documents_of, is_dataset, questions_of
from rarg_tui.relevance.presets import DenseOptions

if TYPE_CHECKING:
    from rarg_tui.agent.model import Model
    from rarg_tui.agent.session import Session
    from rarg_tui.evaluation.why import Way
    from rarg_tui.relevance.index import Index, RankerStatus
    from rarg_tui.relevance.rerank import MatchReranker
    from rarg_tui.relevance.scope import Scope
    from rarg_tui.trace import events as ev
    from rarg_tui.trace import runs
    from rarg_tui.trace.replay import Replay

#: Rankers that serve within seconds; the dense one joins when it is done.
QUICK = ("lexical", "static")

OnProgress = Callable[[Progress], None]


def dense_options(settings: Settings) -> DenseOptions:
    """What the settings say about the dense ranker."""
    return DenseOptions(**{field.name: getattr(settings, field.name) for field in fields(DenseOptions)})


class Workbench:
    """A corpus with its index, its runs, and the settings in force.

    Runs are saved in ``runs_dir`` (default: the user's data directory). Raises ``RargError`` when the
    corpus directory does not exist.
    """

    def __init__(
        self,
        settings: Settings,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        runs_dir: Path | None = None,
    ) -> None:
        self.settings = settings
        self.runs_dir = runs_dir or paths.data_dir() / "runs"
        self.directory = settings.corpus or paths.resource_dir("sample_corpus")
        self.corpus = Corpus(documents_of(self.directory), include, exclude)
        self.name = self.directory.resolve().name or str(self.directory)
        self._opened: list[Index] = []
        self._hosted = Hosted(settings)

    @cached_property
    def index(self) -> Index:
        """The index; opened, and its modules imported, when it is first needed."""
        from rarg_tui.relevance.index import Index

        settings = self.settings
        milvus = settings.store_uri if settings.store == "milvus" else None
        if settings.store == "milvus" and milvus is None:
            raise RargError(
                "The store milvus needs --uri: a file such as vectors.db, or a server's address such as "
                "http://localhost:19530."
            )
        index = Index.open(
            self.corpus,
            cache=settings.cache,
            dense=dense_options(settings),
            milvus=milvus,
            cross_encoder=settings.cross_encoder,
            permit=self._permit_embedding,
        )
        self._opened.append(index)
        return index

    def prepare(self, progress: OnProgress | None = None, cancel: Cancel | None = None) -> None:
        """List the corpus and make the quick rankers ready, or those of them that the settings name (without
        one, the lexical, which also tells how rare words are): seconds on a small corpus."""
        self.corpus.require_documents()
        named = self.settings.ranker.split("+")
        wanted = QUICK if named == ["hybrid"] else [name for name in QUICK if name in named]
        self.index.build(wanted or QUICK[:1], progress, cancel)

    def build_dense(self, progress: OnProgress | None = None, cancel: Cancel | None = None) -> None:
        """Make the dense ranker ready: minutes on a corpus of thousands without a GPU."""
        self.index.build(("dense",), progress, cancel)
        # The model process takes seconds to load: better now than with the first question.
        self.index.recall(self.name, top=1, ranker="dense", cancel=cancel)

    def check(self) -> None:
        """Raise ``RargError`` now for settings that :meth:`start` would refuse after the index is built."""
        chosen = strategies.strategy(self.settings.strategy)
        self.profile()
        if chosen.reranks:
            self.reranker()
        if self._hosted.default != OFFLINE:
            self._need_consent(self.model())

    def reranker(self) -> MatchReranker | None:
        """What reranks matches by the settings in force; ``None``: nothing does."""
        settings = self.settings
        if settings.rerank == "off":
            return None
        return self.index.reranker(settings.rerank, self.profile().quota, settings.match_model)

    def index_status(self) -> Mapping[str, RankerStatus]:
        return self.index.status()

    def start(
        self,
        question: str,
        strategy: str = "",
        model: str = "",
        profile: str = "",
        gold: Mapping[str, int] | None = None,
        limits: Mapping[str, Any] | None = None,
    ) -> Session:
        """Begin a run; empty names mean the settings'. ``limits`` take the place of the profile's own. The
        index must be prepared. Raises ``ConsentNeeded`` before the first text of the corpus goes to a server
        that is not on this machine."""
        from rarg_tui.agent.session import Session
        from rarg_tui.agent.toolbox import Toolbox
        from rarg_tui.agent.tools.base import World
        from rarg_tui.search.sandbox import find_sandbox
        from rarg_tui.trace import runs
        from rarg_tui.trace.log import RunLog

        question = question.strip()
        if not question:
            raise RargError("There is no question: type one.")
        chosen = strategies.strategy(strategy or self.settings.strategy)
        bounds = self.profile(profile, chosen).with_limits(limits or {})
        player = self.model(model)
        self._need_consent(player)
        if bounds.max_cost_usd is not None and not self._priced(player.label):
            raise RargError(
                f"The price of {player.label} is not known, so its cost cannot be bounded: add "
                f'[prices."{player.label}"] with input and output to the settings, or use --max-tokens.'
            )
        rankers = self.index.weights(self.settings.ranker)
        sandbox = find_sandbox(self.settings.sandbox, self.corpus.root)
        started = self._started(question, chosen, bounds, player.label, rankers, gold or {})
        place, notice = paths.writable(self.runs_dir)
        log = RunLog(runs.free_directory(place, runs.run_name(started)))
        log.append(replace(started, run=log.directory.name))
        world = World(
            corpus=self.corpus,
            index=self.index,
            strategy=chosen,
            profile=bounds,
            rankers=rankers,
            rerank=self.settings.rerank,
            match_model=self.settings.match_model,
            directory=log.directory,
            sandbox=sandbox,
        )
        return Session(log, player, Toolbox(world), notices=(notice,) if notice else ())

    def keep(self, session: Session) -> Path:
        """Close a run and say where it is: an earlier run that says the same is kept in its place."""
        from rarg_tui.trace import runs

        session.close()
        return runs.keep_one(session.directory)

    def open_run(self, run: str | Path) -> Replay:
        """A saved run, to be shown event by event; needs no index and no model."""
        from rarg_tui.trace import runs
        from rarg_tui.trace.log import load
        from rarg_tui.trace.replay import Replay

        return Replay(load(runs.find_run(self.runs_dir, str(run))))

    def resume(self, run: str | Path) -> Session:
        """Go on with a run that has not ended, such as a fork; the index must be prepared. Raises
        ``RargError`` when it has ended, or searched another corpus than this; ``ConsentNeeded`` as
        :meth:`start` does."""
        from rarg_tui.agent.session import Session
        from rarg_tui.agent.toolbox import Toolbox
        from rarg_tui.agent.tools.base import World
        from rarg_tui.search.sandbox import find_sandbox
        from rarg_tui.trace import runs
        from rarg_tui.trace.log import RunLog, load
        from rarg_tui.trace.reducer import replay

        loaded = load(runs.find_run(self.runs_dir, str(run)))
        state = replay(loaded.events)
        if state.ended:
            raise RargError(f"{loaded.directory.name} has ended; `rarg fork` goes on from one of its events.")
        if state.corpus != str(self.corpus.root):
            raise RargError(f"{loaded.directory.name} searches {state.corpus}: open it with that directory.")
        player = self.model(state.model)
        self._need_consent(player)
        world = World(
            corpus=self.corpus,
            index=self.index,
            strategy=strategies.strategy(state.strategy),
            profile=profiles.profile(state.profile).with_limits(state.limits),
            rankers=state.rankers,
            rerank=state.rerank,
            match_model=state.match_model,
            directory=loaded.directory,
            sandbox=find_sandbox(self.settings.sandbox, self.corpus.root),
        )
        return Session(RunLog.reopen(loaded), player, Toolbox(world), notices=loaded.notices)

    def unfinished(self, run: str | Path) -> bool:
        """Whether :meth:`resume` could go on with a saved run."""
        from rarg_tui.trace import runs
        from rarg_tui.trace.log import load
        from rarg_tui.trace.reducer import replay

        state = replay(load(runs.find_run(self.runs_dir, str(run))).events)
        return not state.ended and state.corpus == str(self.corpus.root)

    def runs(self) -> list[runs.RunSummary]:
        from rarg_tui.trace import runs

        return runs.list_runs(self.runs_dir)

    def scope(self, directory: Path, number: int) -> Scope:
        """The ranked documents of a run's scope; ``RargError`` when its files are gone."""
        from rarg_tui.relevance.scope import Scope

        return Scope.read(directory, number)

    def document(self, path: str) -> list[str]:
        """The lines of a document, decoded; ``RargError`` when it is gone or unreadable."""
        from rarg_tui.corpus.decoding import read_text

        return read_text(self.corpus, path).splitlines()

    def why(
        self,
        query: str,
        rg_args: Sequence[str],
        document: str,
        line: int | None = None,
        rerank_query: str = "",
    ) -> Way:
        """How far ``document`` (or its ``line``) comes when ``rg_args`` are searched in the scope of
        ``query`` by the settings in force; the index must be prepared."""
        from rarg_tui.evaluation.why import Why

        settings = self.settings
        follow = Why(
            self.corpus,
            self.index,
            self.profile(),
            ranker=settings.ranker,
            rerank=settings.rerank,
            match_model=settings.match_model,
            rerank_query=rerank_query,
        )
        return follow.way(query, rg_args, document, line)

    def questions(self) -> list[Question]:
        """The questions that come with the corpus; none for a plain directory."""
        return questions_of(self.directory) if is_dataset(self.directory) else []

    def strategies(self) -> Mapping[str, str]:
        """Strategy → one line about it."""
        return {name: strategy.description for name, strategy in strategies.STRATEGIES.items()}

    def profiles(self) -> Mapping[str, str]:
        """Profile → one line about it."""
        return {name: profile.description for name, profile in profiles.PROFILES.items()}

    def models(self) -> list[str]:
        """What can answer: the offline planner always, a model where there is a key or a server."""
        named = [self.settings.model] if self.settings.model else []
        if not named and self._hosted.key.value:
            named = [DEFAULT_MODEL]
        return [OFFLINE, *(name for name in named if name != OFFLINE)]

    def profile(self, name: str = "", strategy: Strategy | None = None) -> Profile:
        """The profile with the strategy's limits in place of its own, and the settings' in place of both."""
        settings = self.settings
        given = {"pool": settings.pool, "shown": settings.show, "quota": settings.quota}
        own = profiles.profile(name or settings.profile)
        return own.with_limits(strategy.limits if strategy else {}).with_limits(
            {key: value for key, value in given.items() if value is not None}
        )

    def model(self, name: str = "") -> Model:
        """The model called ``name``; without a name the settings', else the one that a server or a key
        stands for, else the offline planner."""
        chosen = name or self._hosted.default
        if chosen == OFFLINE:
            from rarg_tui.agent.planner import OfflinePlanner

            return OfflinePlanner(self.index.document_frequency, self.index.documents)
        return self._hosted.model(chosen)

    def consent(self) -> None:
        """Agree that text of the corpus goes to the servers of the settings; remembered for both."""
        for server in (self._hosted.server, self.settings.embeddings_url):
            if server:
                consent.give(self.corpus.root, server)

    def _need_consent(self, player: Model) -> None:
        if player.server and consent.needed(self.corpus.root, player.server):
            raise consent.ConsentNeeded(self.corpus.root, player.server)

    def _permit_embedding(self) -> None:
        """Called before text of documents goes to the server of embeddings."""
        server = self.settings.embeddings_url
        if server and consent.needed(self.corpus.root, server):
            raise consent.ConsentNeeded(self.corpus.root, server, embeds=True)

    def _priced(self, model: str) -> bool:
        return model == OFFLINE or model in self.settings.prices

    def close(self) -> None:
        """Stop what runs beside the workbench."""
        for index in self._opened:
            index.close()

    def _started(
        self,
        question: str,
        strategy: Strategy,
        profile: Profile,
        model: str,
        rankers: Mapping[str, float],
        gold: Mapping[str, int],
    ) -> ev.RunStarted:
        from rarg_tui.corpus.fingerprint import fingerprint
        from rarg_tui.search import landlock
        from rarg_tui.search.rg import find_rg
        from rarg_tui.trace import events as ev

        documents = self.corpus.listing().documents
        return ev.RunStarted(
            run="",
            question=question,
            strategy=strategy.name,
            profile=profile.name,
            model=model,
            rankers=rankers,
            rerank=self.settings.rerank if strategy.reranks else "off",
            match_model=self.settings.match_model,
            limits=profile.limits(),
            corpus=str(self.corpus.root),
            corpus_name=self.name,
            documents=len(documents),
            corpus_fingerprint=fingerprint(documents),
            index_fingerprint=self.index.fingerprint,
            versions={
                "rarg": __version__,
                "rg": find_rg().version,
                "landlock": str(landlock.version() or landlock.MISSING),
            },
            gold=gold,
        )
