"""The facade behind `pincite.open`."""

from __future__ import annotations

from pincite.knowledge_base.accounts import Accounts
from pincite.knowledge_base.asking import Asking
from pincite.knowledge_base.changing import Changing
from pincite.knowledge_base.versioning import Versioning

__all__ = ["KnowledgeBase"]


class KnowledgeBase(Asking, Changing, Versioning, Accounts):
    """An index of documents, open for questions; made by `pincite.open`. Safe to use from any number of threads.

    Every search runs on one generation, the last that was committed, by whomever, when it began.
    """
