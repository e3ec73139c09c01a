"""The facade: an index with its models, behind `pincite.open`. Only wires the floors together."""

from pincite.knowledge_base.diagnosing import Diagnosis, diagnose
from pincite.knowledge_base.facade import KnowledgeBase
from pincite.knowledge_base.opening import open, resolve, restore, verify
from pincite.store.status import Status

__all__ = ["Diagnosis", "KnowledgeBase", "Status", "diagnose", "open", "resolve", "restore", "verify"]
