"""What `verify` says of a quote in a text that may have changed."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from pincite.cite.verification import compare

QUOTE = "The pump stops at 80 degrees.\nIt restarts by itself."
BEFORE, AFTER = "## Limits\n\n", "\n\n## Care\n"
TEXT = f"# Manual\n\nRead me first.\n\n{BEFORE}{QUOTE}{AFTER}\nOil it once a year.\n"
START = TEXT.index(QUOTE)


def look(text):
    return compare(QUOTE, START, BEFORE, AFTER, text, against="index")


def test_exact():
    found = look(TEXT)
    assert (found.status, found.start, found.end) == ("exact", START, START + len(QUOTE))


@given(st.text(max_size=50))
def test_moved_whatever_was_put_in_front(more):
    text = more + TEXT
    found = look(text)
    assert found.status == ("exact" if text.startswith(QUOTE, START) else "moved")
    assert text[found.start : found.end] == QUOTE


def test_moved_to_where_its_neighbours_are():
    text = QUOTE + "\n\n" + TEXT
    found = look(text)
    assert (found.status, text[found.start - len(BEFORE) : found.start]) == ("moved", BEFORE)


def test_changed_says_what():
    text = TEXT.replace("80 degrees", "95 degrees")
    found = look(text)
    assert found.status == "changed"
    assert text[found.start : found.end] == found.found == QUOTE.replace("80", "95")
    assert "-The pump stops at 80 degrees." in found.difference.splitlines()
    assert "+The pump stops at 95 degrees." in found.difference.splitlines()


def test_changed_after_a_move():
    text = "A new preface.\n\n" + TEXT.replace("80 degrees", "95 degrees")
    found = look(text)
    assert (found.status, found.found) == ("changed", QUOTE.replace("80", "95"))


def test_gone():
    assert look(None).status == "gone"
    assert look("").status == "gone"
    assert look("Something else altogether, about ships and sails and the sea, at some length.").status == "gone"


@given(text=st.text(max_size=200), data=st.data())
def test_what_is_found_is_what_stands_there(text, data):
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    other = data.draw(st.text(max_size=200))
    quote, before, after = text[start:end], text[max(0, start - 32) : start], text[end : end + 32]
    assert compare(quote, start, before, after, text, against="index").status == "exact"
    found = compare(quote, start, before, after, other, against="index")
    if found.status == "gone":
        assert quote not in other
    else:
        assert other[found.start : found.end] == found.found
        assert (found.found == quote) == (found.status != "changed")
