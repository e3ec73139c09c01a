"""Pages of results: whole, closed in themselves, legible to a screen reader, harmless whatever the questions hold."""

from __future__ import annotations

import dataclasses
import math
import re
from xml.etree import ElementTree

import pytest

from pincite.evaluation import Excerpt, GoldSet, Question, Retrieval, Retrieved, calibrate, compare_all, evaluate, sweep
from pincite.evaluation.chunkers import ChunkerStudy
from pincite.evaluation.chunks import IndexCost
from pincite.evaluation.comparison import compare
from pincite.evaluation.pages import calibration_page, chunkers_page, comparison_page, report_page, sweep_page
from pincite.evaluation.pages.elements import estimate, plain, table
from pincite.evaluation.pages.plots import Series, curves_plot, distances_plot, intervals_plot, span_of
from pincite.evaluation.pages.style import STYLE
from pincite.evaluation.refusal import distances_of
from pincite.evaluation.statistics import Interval, wilson

NASTY = "<script>alert('&amp;')</script>\n\" onload=x \x00\x1b[31m\ud800 \u202eend"
NASTY_SHOWN = "<script>alert('&amp;')</script> \" onload=x \\x00\\x1b[31m\\ud800 \\u202eend"


def excerpt() -> Excerpt:
    return Excerpt("d", 0, 1, "x")


def question(i: int, **options) -> Question:
    return Question(f"q{i}", f"what is {i}?", (excerpt(),), **options)


GOLD = GoldSet(
    "gold",
    (
        *(question(i, family="odd" if i % 2 else "even") for i in range(24)),
        *(Question(f"n{i}", f"none {i}", answerable=False, family="near" if i % 3 else "far") for i in range(60)),
    ),
)


def report(gold: GoldSet = GOLD, *, rank_of=lambda number: 1, distance_of=lambda number: None, depth: int = 20):
    """Of a retriever that gives the answer at a rank, 0 for nowhere, and None for a refusal."""
    texts = {q.text: number for number, q in enumerate(gold)}

    def retriever(text: str) -> Retrieval:
        rank, distance = rank_of(texts[text]), distance_of(texts[text])
        if rank is None:
            return Retrieval((), distance)
        wrong = [Retrieved("d", 5, 9, 5, distance)] * (rank - 1 if rank else 3)
        return Retrieval((*wrong, *([Retrieved("d", 0, 1, 0, distance)] if rank else [])), distance)

    return evaluate(retriever, gold, name="one", depth=depth)


def near_and_far(number: int) -> float:
    return 0.1 + number / 100 if number < 24 else 0.2 + number / 100


def indexed(found, name: str, destroyed: set[str]):
    """As if it were of an index whose chunks hold no answer to some questions."""
    outcomes = tuple(dataclasses.replace(o, destroyed=o.id in destroyed) for o in found.outcomes)
    configuration = {**found.configuration, "index": {"target": 24}, "pipeline": "hybrid", "max_distance": 0.5}
    cost = IndexCost(chunks=7, characters=70, truncated_chunks=1, lost_tokens=2, header_tokens=14, nbytes=1_500_000)
    return dataclasses.replace(found, name=name, outcomes=outcomes, configuration=configuration, cost=cost)


def parsed(page: str) -> ElementTree.Element:
    """Return a page as elements: it is well-formed XML, which any browser reads as the same HTML."""
    head, _, rest = page.partition("\n")
    assert head == "<!doctype html>"
    root = ElementTree.fromstring(rest)
    assert all(element.tag not in {"script", "link", "img", "iframe", "object"} for element in root.iter())
    for element in root.iter():
        assert not {"src", "href", "data", "style", "onload"} & set(element.attrib), "nothing is fetched or run"
    for sign in ("url(", "@import", "http:", "https:", "//"):
        assert sign not in page
    for svg in root.iter("svg"):
        assert svg.get("aria-hidden") == "true" or (svg.get("role") == "img" and svg.get("aria-label"))
    assert all(cell.get("scope") in {"row", "col"} for cell in root.iter("th"))
    assert all(found[0].tag == "summary" for found in root.iter("details"))
    assert [len(list(root.iter(tag))) for tag in ("h1", "main", "title")][:2] == [1, 1]
    return root


def text_of(root: ElementTree.Element) -> str:
    return " ".join(" ".join(element.itertext()) for element in root.iter("body"))


def pages(one, two) -> dict[str, str]:
    """Every kind of page about two reports on one gold set."""
    return {
        "report": report_page(one),
        "comparison": comparison_page(one, two, compare(one, two)),
        "gate": comparison_page(one, two, compare(one, two), passed=False, limits="at most 0 destroyed"),
        "sweep": sweep_page(one, sweep(distances_of(one))),
        "calibration": calibration_page(one, calibrate(one, max_bluffs=0.2)),
    }


def chunker_study(one, two) -> ChunkerStudy:
    return ChunkerStudy((one, two), tuple(compare_all(two, [one])))


@pytest.mark.parametrize(
    "made",
    [
        lambda: report(distance_of=near_and_far),
        lambda: report(rank_of=lambda number: None),
        lambda: report(rank_of=lambda number: 0, distance_of=lambda number: math.inf),
        lambda: report(GoldSet("one", (question(0),))),
        lambda: report(GoldSet("none", (Question("n", "none", answerable=False),)), distance_of=lambda number: 0.5),
        lambda: report(distance_of=lambda number: 0.5),
    ],
    ids=["usual", "all refused", "none found", "one question", "nothing answerable", "one distance"],
)
def test_pages_are_whole_whatever_was_found(made):
    one = indexed(made(), "one", set())
    two = indexed(made(), "two", {"q0"})
    found = pages(one, two)
    found["chunkers"] = chunkers_page(chunker_study(one, two))
    for page in found.values():
        root = parsed(page)
        assert "nan" not in text_of(root).lower().split()


def test_the_same_results_give_the_same_bytes():
    one, two = (indexed(report(GoldSet("two", GOLD.questions[:2])), name, set()) for name in ("one", "two"))
    assert pages(one, two) == pages(one, two)


def test_hostile_names_are_shown_and_nothing_else():
    found = report(GoldSet("gold", (question(0, family="a"), question(1, family="b"))), distance_of=lambda number: 0.5)
    first, second = found.outcomes
    nasty = (
        dataclasses.replace(first, id=NASTY, question=NASTY, family=NASTY, rank=None),
        dataclasses.replace(second, family="</style>"),
    )
    found = dataclasses.replace(found, outcomes=nasty, gold={**found.gold, "name": NASTY})
    one, two = indexed(found, NASTY, {NASTY}), indexed(found, "</title>", set())
    for page in (*pages(one, two).values(), chunkers_page(chunker_study(one, two))):
        page.encode("utf-8")
        assert NASTY_SHOWN in text_of(parsed(page))


def test_text_is_escaped_wherever_it_comes_in():
    assert plain('<b> & "x"\n\ty') == "&lt;b&gt; &amp; &quot;x&quot; y"
    assert "<b>" not in table(["<b>", "<b>"], [["<b>", "<b>"]], label="<b>")
    assert plain(plain("<b>")) == "&lt;b&gt;", "what is markup already is left as it is"


def test_a_comparison_shows_each_question_with_both_ranks():
    old = indexed(report(rank_of=lambda number: 1 if number < 10 else 7), "old", set())
    new = indexed(report(rank_of=lambda number: 9 if number < 3 else 2 if number < 20 else 0), "new", {"q2"})
    root = parsed(comparison_page(old, new, compare(old, new)))
    lists = {found[0].text: found for found in root.iter("details")}
    rows = [[" ".join(cell.itertext()) for cell in row] for row in lists["3 lost"].iter("tr")]
    assert rows == [
        ["question", "old", "new"],
        ["what is 0? q0", "1", "9"],
        ["what is 1? q1", "1", "9"],
        ["what is 2? q2", "1", "9"],
    ]
    assert "10 gained" in lists
    assert lists["1 destroyed: a chunk of the old index holds the answer, none of the new one"].get("open") == "open"
    assert "what is 12?" in " ".join(lists["10 gained"].itertext())
    assert "found by neither" not in " ".join(lists)


def test_reports_of_one_name_stay_two_columns():
    one = report()
    for found in parsed(comparison_page(one, one, compare(one, one))).iter("table"):
        assert len({len(row) for row in found.iter("tr")}) == 1


def test_a_long_list_is_closed_and_an_empty_one_says_so():
    old, new = report(rank_of=lambda number: None), report(rank_of=lambda number: 1)
    lists = {d[0].text: d for d in parsed(comparison_page(old, new, compare(old, new))).iter("details")}
    assert lists["24 gained"].get("open") is None
    assert "None." in " ".join(lists["0 lost"].itertext())


def test_a_gate_says_first_whether_it_is_open():
    one = report()
    for passed, word in ((True, "open"), (False, "closed")):
        page = comparison_page(one, one, compare(one, one), passed=passed, limits="at most 0 destroyed")
        assert f"The gate is {word}: at most 0 destroyed." in text_of(parsed(page))


def test_a_report_lists_what_went_wrong():
    found = report(rank_of=lambda number: number % 3 if number < 24 else 1 if number < 30 else None)
    root = parsed(report_page(indexed(found, "one", {"q4"})))
    assert {found[0].text for found in root.iter("details")} >= {
        "1 destroyed: no chunk holds the answer",
        "8 not answered by the first 20 passages",
        "6 answered although there is no answer",
    }


def test_a_sweep_draws_what_its_table_says():
    one = report(distance_of=near_and_far)
    rows = sweep(distances_of(one))
    root = parsed(sweep_page(one, rows))
    (drawn,) = [found for found in root.iter("table") if found[0][0][0].text == "threshold"]
    assert [cell.text for cell in drawn[0][0]] == [
        "threshold", "answered correctly", "answered wrongly", "given up wrongly", "bluffs", "bluffs, far",
        "bluffs, near",
    ]  # fmt: skip
    assert len(drawn[1]) == len(rows)
    curves = [element for element in root.iter("path") if element.get("class", "").endswith(" curve")]
    assert len(curves) == 6
    bars = [element for element in root.iter("rect") if element.get("class", "").endswith(" bar")]
    drawn_questions = sum(int(bar[0].text.split(": ")[1].split()[0]) for bar in bars if len(bar))
    assert drawn_questions == len(GOLD)
    assert "separates them best" in text_of(root)


def test_a_sweep_without_distances_says_so():
    assert "No question has a distance" in text_of(parsed(sweep_page(report(), sweep(distances_of(report())))))


def test_logits_are_shown_as_they_are():
    def retriever(text: str) -> list[Retrieved]:
        return [Retrieved("d", 0, 1, 0, logit=4.0 if text.startswith("what") else -3.0)]

    one = evaluate(retriever, GOLD)
    rows = sweep(distances_of(one, score="logit"), thresholds=[-4.0, -1.0, 3.0])
    root = parsed(sweep_page(one, rows, score="logit"))
    (drawn,) = [found for found in root.iter("table") if found[0][0][0].text == "threshold"]
    assert [row[0].text for row in drawn[1]] == ["4.000", "1.000", "-3.000"]
    assert "separates them best 4.000" in text_of(root)
    assert "default" not in text_of(root)
    found = calibrate(one, score="logit")
    root = parsed(calibration_page(one, found))
    assert f"threshold {found.threshold:.3f}" in text_of(root)
    shares = {row[0].text: "".join(row[1].itertext()) for row in next(root.iter("table"))[1]}
    assert shares["answered correctly"].startswith("1.000")
    assert shares["bluffs"].startswith("0.000")


def test_a_calibration_shows_its_threshold_or_why_there_is_none():
    one = report(distance_of=lambda number: 0.1 if number < 24 else 0.9)
    found = calibrate(one)
    root = parsed(calibration_page(one, found))
    assert f"threshold {found.threshold:.3f}" in text_of(root)
    assert "bluffs, near" in text_of(root)
    refused = calibration_page(one, calibrate(one, max_bluffs=0.01))
    assert "Not set, too few questions: there are 24 answerable and 60" in text_of(parsed(refused))


def test_ways_of_cutting_are_side_by_side():
    one, two = indexed(report(), "A", {"q3", "q5"}), indexed(report(), "structural", set())
    root = parsed(chunkers_page(chunker_study(one, two)))
    rows = [[" ".join(cell.itertext()) for cell in row] for row in next(root.iter("table"))[1]]
    assert [row[:3] for row in rows] == [["A", "7", "2"], ["structural", "7", "0"]]
    assert [row[-3:] for row in rows] == [["2.0", "1", "2"]] * 2
    lists = {found[0].text: " ".join(found.itertext()) for found in root.iter("details")}
    assert "what is 3?" in lists["2 destroyed by A"]
    assert "None." in lists["0 destroyed by structural"]
    assert "not distinguishable by R@4: A and structural" in text_of(root)


def test_fewer_passages_have_fewer_measures():
    study = chunker_study(*(indexed(report(depth=4), name, set()) for name in ("A", "structural")))
    for shown in (study.table(), text_of(parsed(chunkers_page(study)))):
        assert "R@4" in shown
        assert "R@20" not in shown


def test_plots_leave_out_what_is_no_number():
    nothing = Interval(math.nan, math.nan, math.nan)
    assert intervals_plot([Series("a", 0, {"R@1": nothing})], "x") == ""
    assert curves_plot([0.1], [Series("a", 0, [nothing])], "x", span=(0, 1), marks={}) == ""
    assert distances_plot([Series("a", 0, [math.inf])], [], "x", span=(0, 1), marks={}) == ""
    assert estimate(nothing) == estimate(None)
    assert span_of([math.inf], []) == (0.0, 1.0)
    low, high = span_of([0.5, 0.5])
    assert low < 0.5 < high


@pytest.mark.parametrize("half", [1e-6, 0.03, 0.2, 1.0])
def test_differences_are_drawn_around_zero(half):
    shown = intervals_plot([Series("new", 5, {"MRR": Interval(half / 2, -half / 2, half)})], "x", around_zero=True)
    svg = ElementTree.fromstring(shown)
    (zero,) = [line for line in svg.iter("line") if line.get("class") == "axis"]
    ends = [float(line.get("x1")) for line in svg.iter("line") if line.get("class") == "grid"]
    assert float(zero.get("x1")) in ends
    assert sum(ends) / len(ends) == pytest.approx(float(zero.get("x1")), abs=0.1)


def test_points_and_intervals_stand_where_they_should():
    svg = ElementTree.fromstring(intervals_plot([Series("a", 0, {"R@1": wilson(1, 2)})], "x"))
    (point,) = svg.iter("circle")
    lines = sorted({float(line.get("x1")) for line in svg.iter("line")})
    assert float(point.get("cx")) == pytest.approx((lines[0] + lines[-1]) / 2, abs=0.1)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_and_marks_have_contrast_on_light_and_on_dark_paper():
    light, dark = (dict(re.findall(r"--(\w+): #([0-9a-f]{3,6})", block)) for block in STYLE.split("@media", 2)[:2])
    assert set(light) == set(dark)
    for scheme in (light, dark):
        for paper in ("paper", "shade"):
            for name in set(scheme) - {"paper", "shade", "line"}:
                low, high = sorted((luminance(scheme[name]), luminance(scheme[paper])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, f"{name} on {paper}"
