"""Questions, and what is made of their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pincite.cite.citation import Citation, cite
from pincite.cite.context import Context, NoAnswer, context_of
from pincite.cite.origin import origin_of
from pincite.cite.resolve import Passage, resolve_uri
from pincite.cite.verification import CurrentText, TextProvider
from pincite.config import DEFAULT_MAX_DISTANCE
from pincite.core.arguments import integer, one_of, word
from pincite.errors import ExtractionError, InvalidInputError
from pincite.extract import extract
from pincite.filters import Condition, condition_of
from pincite.knowledge_base.opened import OpenIndex
from pincite.retrieve.decide import checked_limits
from pincite.retrieve.pipeline import CANDIDATES, search
from pincite.retrieve.result import RerankOrder, SearchResult
from pincite.store.access import checked_groups
from pincite.store.sources import file_of, ids_of_file, require_regular

__all__ = ["Asking"]

RERANK_ORDERS: dict[Any, RerankOrder] = {True: "fused", False: "none", "fused": "fused", "pure": "pure", "none": "none"}


class Asking(OpenIndex):
    """What can be asked of an open index."""

    def search(
        self,
        question: str,
        *,
        k: int = 4,
        max_distance: float | None = DEFAULT_MAX_DISTANCE,
        rerank: bool | RerankOrder = True,
        candidates: int = CANDIDATES,
        min_logit: float | None = None,
        max_absent: float | None = None,
        where: Condition | Mapping[str, Any] | str | None = None,
        groups: Iterable[str] | None = None,
        statistics: Literal["visible", "global"] = "visible",
    ) -> SearchResult:
        """Find the passages that answer a question.

        BM25 and the vectors each give their best `candidates`, fused by reciprocal rank. Of those within `max_distance`
        the best 25 are judged by the reranker, whose order is fused with theirs.

        Parameters
        ----------
        question : str
        k : int, default 4
            Return at most this many passages.
        max_distance : float or None, default 0.675
            The greatest cosine distance, 1 - cosine, at which a passage is an answer; None: any. A passage beyond it
            passes only if it holds a rare, code-like word of the question, and says so.
        rerank : bool or {"fused", "pure", "none"}, default True
            True and "fused": the reranker's order fused with the hybrid one; "pure": its order alone; False and "none":
            the hybrid order, without the reranker.
        candidates : int, default 50
            Wanted of each leg; at least `k`.
        min_logit : float, optional
            A second stage: a passage whose rerank logit is below it is no answer. Only reranked passages have one.
        max_absent : float, optional
            A second stage as well: a passage that lacks more than this share, 0 to 1, of the weight of the question's
            words is no answer: see `Hit.absent_weight`. Both are off by default, as neither suits questions in other
            words than the documents'; `pincite.evaluation.calibrate` sets them.
        where : Condition, dict or str, optional
            Only documents that fulfil it are searched: ``F("lang") == "de"``, its `to_dict`, or a text such as
            ``'lang == "de" and modified >= 2024-01-01'``. It reaches inside both legs, so `k` passages are returned as
            long as so many fulfil it. Word statistics are those of all documents that may be seen.
        groups : iterable of str, optional
            Of the asker: see `grant`. The result is that of an index which holds only what they may see: ids, order,
            scores, counts and coverage (not timings, `plan` and generation). An index with groups has to be given some;
            none at all see nothing.
        statistics : {"visible", "global"}, default "visible"
            "global" ranks what the asker may see by the word statistics of all documents. It leaks: scores and order
            then tell how frequent a word is in documents that the asker may not see.

        Returns
        -------
        SearchResult
            Refused, with the reason, where nothing passes.

        Raises
        ------
        InvalidInputError
            If the question is blank or an argument is out of its range.
        ModelFileError, IncompatibleIndexError
            As for `encoder` and `reranker`.
        """
        if not word(question, "question").strip():
            raise InvalidInputError(f"the question is {question!r}, wanted some words")
        k = integer(k, "k", at_least=1)
        if not isinstance(rerank, (bool, str)) or rerank not in RERANK_ORDERS:
            raise InvalidInputError(f"rerank is {rerank!r}, wanted True, False, 'fused', 'pure' or 'none'")
        order = RERANK_ORDERS[rerank]
        max_distance, min_logit, max_absent = checked_limits(
            max_distance, min_logit, max_absent, reranks=order != "none"
        )
        allowed = self._folder.views.checked(groups)
        everything, view = self._undisturbed(lambda now: (now, self._folder.views.of(now, allowed)))
        self._folder.check_analyzer(everything.version)
        return search(
            everything if one_of(statistics, "statistics", ("visible", "global")) == "global" else view,
            question,
            encoder=lambda: self._encoder_of(everything.version),
            reranker=self.reranker,
            k=k,
            max_distance=max_distance,
            candidates=max(k, integer(candidates, "candidates", at_least=1)),  # or legs that agree would leave fewer
            order=order,
            min_logit=min_logit,
            max_absent=max_absent,
            where=None if where is None else condition_of(where),
            within=view if statistics == "global" and allowed is not None else None,
        )

    def context(
        self,
        question: str,
        *,
        k: int = 4,
        max_distance: float | None = DEFAULT_MAX_DISTANCE,
        rerank: bool | RerankOrder = True,
        candidates: int = CANDIDATES,
        min_logit: float | None = None,
        max_absent: float | None = None,
        where: Condition | Mapping[str, Any] | str | None = None,
        groups: Iterable[str] | None = None,
        statistics: Literal["visible", "global"] = "visible",
    ) -> Context | NoAnswer:
        """Return what a language model needs to answer a question, or the reason not to call one.

        Takes what `search` takes, and raises what it raises.

        Returns
        -------
        Context or NoAnswer
            A Context is true and has `sources`, `prompt` and `citations`; a NoAnswer is false and has `message`.
        """
        allowed = None if groups is None else checked_groups(groups)
        result = self.search(
            question,
            k=k,
            max_distance=max_distance,
            rerank=rerank,
            candidates=candidates,
            min_logit=min_logit,
            max_absent=max_absent,
            where=where,
            groups=allowed,
            statistics=statistics,
        )
        return context_of(result, self.citations(result, groups=allowed))

    def citations(self, result: SearchResult, *, groups: Iterable[str] | None = None) -> tuple[Citation, ...]:
        """Return the citations of a result's hits, numbered from 1; `groups` as for the search.

        Whether a citation still holds is looked up with these groups, by who may see what at that time. Of a document
        that they may not see any more, nothing is added to what the result holds.
        """
        views = self._folder.views
        allowed = views.checked(groups)
        sources = self._folder.catalog.source_records()
        roots = {source.name: source.root for source in sources}
        texts = self._seen_by(allowed)
        return tuple(
            cite(
                hit,
                number=number,
                path=file_of(hit.document, roots),
                origin=origin_of(hit.document, sources),
                texts=texts,
                alone=not views.may_see(hit.document_id, allowed),
            )
            for number, hit in enumerate(result, start=1)
        )

    def resolve(self, uri: str, *, groups: Iterable[str] | None = None) -> Passage:
        """Return the passage that the URI of a citation names.

        Parameters
        ----------
        uri : str
            `Citation.uri` or `Citation.href`; without a fragment, the whole document.
        groups : iterable of str, optional
            Of the asker, as for `search`.

        Raises
        ------
        InvalidInputError
            If the URI cannot be read, or the index has groups and none are given.
        PassageNotFoundError
            If the index has no such document that may be seen.
        """
        folder, views = self._folder, self._folder.views
        allowed = views.checked(groups)
        ids = ids_of_file(word(uri, "uri"), folder.catalog.sources())
        return self._undisturbed(
            lambda now: resolve_uri(uri, folder=folder, ids=ids, may_see=lambda id: views.may_see(id, allowed))
        )

    def current_text(
        self, document_id: str, *, against: Literal["index", "source"], groups: Iterable[str] | None = None
    ) -> CurrentText | None:
        """Return a document's canonical text as the index has it, or as its file says now; None if it is gone.

        `groups` as for `search`: what they may not see is gone.
        """
        id, folder = word(document_id, "document_id"), self._folder
        one_of(against, "against", ("index", "source"))
        allowed = folder.views.checked(groups)
        found = self._undisturbed(lambda now: folder.find(id) if folder.views.may_see(id, allowed) else None)
        if found is None:
            return None
        record, segment, number = found
        path = file_of(record, folder.catalog.sources())
        if against == "source" and path is not None:
            try:
                require_regular(path, id)
                return CurrentText(extract(path.read_bytes(), suffix=path.suffix).text)
            except (OSError, ExtractionError):
                return None
        return CurrentText(segment.texts.text(number))

    def _seen_by(self, groups: Iterable[str] | None) -> TextProvider:
        allowed = self._folder.views.checked(groups)
        return self if allowed is None else _SeenBy(self, allowed)


class _SeenBy:
    """A knowledge base as some groups see it, by who may see what when it is asked."""

    def __init__(self, kb: Asking, groups: frozenset[str]) -> None:
        self._kb = kb
        self._groups = groups

    def current_text(self, document_id: str, *, against: Literal["index", "source"]) -> CurrentText | None:
        """Return the text of a document that may be seen."""
        return self._kb.current_text(document_id, against=against, groups=self._groups)
