"""Measuring retrieval: gold sets, metrics, intervals, paired tests, thresholds."""

from pincite.evaluation.calibration import Calibration, calibrate
from pincite.evaluation.chunkers import ChunkerStudy, study_cutters
from pincite.evaluation.comparison import Comparison, compare, compare_all
from pincite.evaluation.generation import Answer, AnswerReport, Claim, evaluate_answers
from pincite.evaluation.gold import Excerpt, GoldSet, Question, Span
from pincite.evaluation.judge import WordsAndReranker
from pincite.evaluation.loaders import load_beir, load_chroma
from pincite.evaluation.memory_index import Cutter, MemoryIndex, cutter_of
from pincite.evaluation.negatives import delete_answers, swap_entities
from pincite.evaluation.refusal import Distances, SweepRow, distances_of, separability, sweep
from pincite.evaluation.report import Report
from pincite.evaluation.retriever import Retrieval, Retrieved, of_knowledge_base
from pincite.evaluation.run import evaluate

__all__ = [
    "Answer",
    "AnswerReport",
    "Calibration",
    "ChunkerStudy",
    "Claim",
    "Comparison",
    "Cutter",
    "Distances",
    "Excerpt",
    "GoldSet",
    "MemoryIndex",
    "Question",
    "Report",
    "Retrieval",
    "Retrieved",
    "Span",
    "SweepRow",
    "WordsAndReranker",
    "calibrate",
    "compare",
    "compare_all",
    "cutter_of",
    "delete_answers",
    "distances_of",
    "evaluate",
    "evaluate_answers",
    "load_beir",
    "load_chroma",
    "of_knowledge_base",
    "separability",
    "study_cutters",
    "swap_entities",
    "sweep",
]
