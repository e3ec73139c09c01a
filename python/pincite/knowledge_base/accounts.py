"""What an index holds, for whoever runs it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from pincite.core.arguments import integer
from pincite.knowledge_base.opened import OpenIndex
from pincite.retrieve.audit import Audit, audit
from pincite.store.access import checked_groups
from pincite.store.ledger import Ledger, ledger_of
from pincite.store.stale import StaleDocument, stale_documents
from pincite.store.status import Status, status_of

__all__ = ["Accounts"]


class Accounts(OpenIndex):
    """What can be known of an open index, all documents included."""

    def status(self) -> Status:
        """Return what the index holds."""
        return status_of(self._folder)

    def ledger(self) -> Ledger:
        """Account for every character of every document, and for the documents that failed.

        Reads all texts once.
        """
        folder = self._folder
        snapshot = folder.snapshot()
        documents = folder.catalog.version(snapshot.version.number).living(snapshot.generation)
        strategy = snapshot.version.config.strategy
        return ledger_of(snapshot, documents, folder.catalog.failures(), strategy=strategy)

    def stale(self, *, older_than: float | timedelta | None = None) -> list[StaleDocument]:
        """Return the documents that may not say what is so any more, by id, each with the reasons.

        Parameters
        ----------
        older_than : timedelta or float, optional
            Or seconds: documents whose source was not compared for longer, and documents that were given as texts
            longer ago. Without it: those that failed since, those that an older extractor or chunker made, and those of
            a source in trouble.
        """
        return stale_documents(self._folder, older_than)

    def audit(self, groups: Iterable[str], *, questions: int = 20, seed: int = 0) -> Audit:
        """Return what groups can see, and check on sampled questions that nothing else shows through.

        The words of chunks that they can see, and of such that they cannot, are asked; both legs have to answer as an
        index that is built, in memory, of what they can see.

        Parameters
        ----------
        groups : iterable of str
        questions : int, default 20
        seed : int, default 0
            Of the sample.
        """
        asked = checked_groups(groups)
        everything, view = self._undisturbed(lambda now: (now, self._folder.views.of(now, asked)))
        self._folder.check_analyzer(everything.version)
        return audit(
            everything,
            view,
            asked,
            encoder=lambda: self._encoder_of(everything.version),
            questions=integer(questions, "questions", at_least=1),
            seed=integer(seed, "seed", at_least=0),
        )
