"""Results as HTML pages that are whole in themselves: one fetches nothing; the same results give the same bytes."""

from pincite.evaluation.pages.chunkers import chunkers_page
from pincite.evaluation.pages.refusal import calibration_page, sweep_page
from pincite.evaluation.pages.reports import comparison_page, report_page

__all__ = ["calibration_page", "chunkers_page", "comparison_page", "report_page", "sweep_page"]
