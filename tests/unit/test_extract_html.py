"""HTML into Markdown that reads like the page."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import ExtractionError
from pincite.extract import extract, html_source

WORDS = st.text("ab_*#`<>&|-+1. é🚀\u0301", min_size=1, max_size=12)
TAGS = [
    "<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "<ol start=5>", "</ol>", "<table>", "<tr>", "</td>",
    "<td colspan=3>", "<th rowspan=2>", "</table>", "<h2>", "</h2>", "<pre>", "</pre>", "<blockquote>", "<br>",
    "</blockquote>", "<b>", "</b>", "<svg>", "<path/>", "</svg>", "<!-- c -->", "<script>s</script>", "<i hidden>",
    "</i>", "<a href='x'>", "<!", "<?", "</", "<", "<a b='", '"', "<textarea>", "<title>", "<template>", "</template>",
    "<select><option>", "</select>",
]  # fmt: skip
pages = st.lists(st.one_of(st.sampled_from(TAGS), WORDS), max_size=30).map("".join)


def page(source):
    return extract(source.encode(), suffix=".html")


def text_of(source):
    return page(source).text


def refusal(source):
    """Return the reason why a page has no text, None if it has one."""
    try:
        page(source)
    except ExtractionError as error:
        return error.reason
    return None


@given(pages)
def test_any_page_becomes_text_or_is_refused_by_name(source):
    if reason := refusal(source):
        assert reason == "empty"
        return
    found = page(source)
    assert found.text.strip()
    assert found.text.endswith("\n")
    assert "\0" not in found.text
    assert all(count > 0 for count in found.dropped.values())
    assert page(source) == found


@given(
    st.lists(WORDS.map(lambda word: "x" + word), min_size=1, max_size=8),
    st.sampled_from(["p", "div", "li", "td", "h1", "b"]),
)
def test_words_come_out_as_they_read(words, name):
    """No escapes, no emphasis marks; each run of white space is one space."""
    escaped = [word.replace("&", "&amp;").replace("<", "&lt;") for word in words]
    found = text_of("".join(f"<{name}>{word}</{name}>\n" for word in escaped))
    for word in words:
        assert " ".join(word.split()) in found


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("<h1>One</h1><h3>Three <i>x</i></h3><p>a<p>b", "# One\n\n### Three x\n\na\n\nb\n"),
        ("<p>snake_case *a* 1. [b] `c` \\d", "snake_case *a* 1. [b] `c` \\d\n"),
        ("<p><b>bo</b>ld, <em>it</em>, <code>x_y</code>, H<sub>2</sub>O", "bold, it, x_y, H2O\n"),
        ("<p>a\n  b&nbsp;&nbsp;c\td", "a b c d\n"),
        ("<p>see <a href='https://e.org/?a=1'>the page</a>.", "see the page.\n"),
        ("<p>a<img src=x alt='a cat'>b<img src=y>", "aa catb\n"),
        ("a<br>b<br/>c<br><br>d", "a\nb\nc\n\nd\n"),
        ("<ul><li>a<li>b<ol><li>x<li>y</ol><li>c</ul>d", "- a\n- b\n  1. x\n  2. y\n- c\n\nd\n"),
        ("<ol start=9><li><p>a</p><p>b</p></li><li>c</li></ol>", "9. a\n\n   b\n10. c\n"),
        ("<li>loose<li>items", "- loose\n\n- items\n"),
        ("<blockquote>a<p>b</p></blockquote>c", "> a\n>\n> b\n\nc\n"),
        (
            "<ul><li><blockquote>q</blockquote></li><li></li><li><pre>c\n d</pre></li></ul>",
            "- > q\n- ```\n  c\n   d\n  ```\n",
        ),
        ("<pre>\n  a\n\n```\n</pre>", "````\n  a\n\n```\n````\n"),
        ("<pre><code>a<br>b</code></pre>", "```\na\nb\n```\n"),
        ("<dl><dt>t<dd>d<dt>u<dd>e</dl>", "t\n\nd\n\nu\n\ne\n"),
        ("<select><option>a<option>b</select>", "a\n\nb\n"),
        ("<p>&lt;b&gt; &amp;amp; &#8364; &#x80; &eacute; &unknown;", "<b> &amp; € € é &unknown;\n"),
        ("<p>5 < 6, a<é, 1<2>0", "5 < 6, a<é, 1<2>0\n"),
        ("<noscript>No scripts.</noscript>", "No scripts.\n"),
        ("<details><summary>More</summary>inside</details>", "More\n\ninside\n"),
        ("<svg><title>t</title><path/><path/><text>label</text></svg>after", "labelafter\n"),
        ("<p>a</p></div></p><p>b", "a\n\nb\n"),
        ("<p>cut off <a href='x", "cut off <a href='x\n"),
        ("<textarea>a <b>\nc", "```\na <b>\nc\n```\n"),
    ],
)
def test_what_becomes_of_what(source, wanted):
    assert text_of(source) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n|---|---|\n| 1 | 2 |\n"),
        (
            "<table><caption>C</caption><thead><tr><th>A</th><th>B|b</th></tr></thead>"
            "<tbody><tr><td><p>1</p><p>2</p></td><td><ul><li>x<li>y</ul></td></tr></tbody></table>",
            "C\n\n| A | B|b |\n|---|---|---|\n| 1 2 | x y |\n",
        ),
        ("<table><tr><td colspan=2>T<tr><td>1<td>2</table>", "| T |  |\n|---|---|\n| 1 | 2 |\n"),
        (
            "<table><tr><th rowspan=2>A<th>B<tr><td>1<tr><td>2<td>3</table>",
            "| A | B |\n|---|---|\n|  | 1 |\n| 2 | 3 |\n",
        ),
        ("<table><tr><td>only</table>", "only\n"),
        ("<table><tr><td>menu<td>content</table>", "menu\n\ncontent\n"),
        ("<table><tr><td>menu<td><h1>H</h1>text<tr><td>foot<td></table>", "menu\n\n# H\n\ntext\n\nfoot\n"),
        ("<table></center><tr><td>1</div><td>2<tr><td>3<td>4</table>", "| 1 | 2 |\n|---|---|\n| 3 | 4 |\n"),
        ("<table><tr><td>a<td>b<tr hidden><td>c<td>d<tr><td>e<td hidden>f</table>", "| a | b |\n|---|---|\n| e |\n"),
    ],
)
def test_tables(source, wanted):
    assert text_of(source) == wanted


def test_what_is_left_out_is_counted():
    found = page(
        "<!doctype html><head><style>ab{}</style><script>1<2</script></head><body><!--four--><p hidden>out</p>"
        "<p style='color:red; DISPLAY : none'>out!</p><template><p>tpl</p></template><iframe>if</iframe><?php x ?>"
        "<dialog>d</dialog><dialog open>shown</dialog><p hidden=until-found>found</p><p style='display:block'>in"
    )
    assert found.text == "shown\n\nfound\n\nin\n"
    assert found.dropped == {"style": 4, "script": 3, "comment": 11, "hidden": 8, "template": 3, "iframe": 2}


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> A &amp; <b>\n B </title><h1>H</h1>", "A & <b> B"),
        ("<h1>H</h1>text", ""),
        ("<svg><title>icon</title></svg><title>T</title>x", "T"),
        ("<title></title><title>second</title>x", "second"),
    ],
)
def test_the_title_is_what_the_page_says(source, title):
    assert page(source).title == title


@pytest.mark.parametrize(
    ("declared", "codec", "encoding"),
    [
        ("windows-1252", "cp1252", "cp1252"),
        ("ISO-8859-1", "cp1252", "cp1252"),
        ("latin1", "cp1252", "cp1252"),
        ("Shift_JIS", "cp932", "cp932"),
        ("x-sjis", "cp932", "cp932"),
        ("gb2312", "gb18030", "gb18030"),
        ("euc-kr", "cp949", "cp949"),
        ("koi8-r", "koi8-r", "koi8-r"),
        ("utf-16", "utf-8", "utf-8"),
        ("UTF8", "utf-8", "utf-8"),
    ],
)
def test_the_declared_encoding(declared, codec, encoding):
    """X11."""
    word = {"cp1252": "€“ü”", "cp932": "日本語①", "gb18030": "汉字", "cp949": "보험", "koi8-r": "слово"}.get(
        codec, "€“日本語"
    )
    for meta in (f"<meta charset={declared}>", f"<META http-equiv=x content='text/html; charset={declared}'>"):
        found = extract((meta + word).encode(codec), suffix=".html")
        assert (found.text, found.encoding) == (word + "\n", encoding)


def test_a_byte_order_mark_is_stronger_than_the_declaration():
    found = extract(codecs.BOM_UTF16_LE + "<meta charset=utf-8>ü".encode("utf-16-le"), suffix=".html")
    assert (found.text, found.encoding) == ("ü\n", "utf-16-le")


@pytest.mark.parametrize("declared", ["utf-7", "rot13", "hex", "unicode_escape", "idna", "nonsense", "\xff"])
def test_other_codecs_are_refused(declared):
    with pytest.raises(ExtractionError, match="declares the encoding") as caught:
        extract(f"<meta charset={declared}>text".encode("latin-1"), suffix=".html")
    assert caught.value.reason == "undecodable"


def test_a_page_of_scripts_alone_is_empty():
    with pytest.raises(ExtractionError, match="script: 7") as caught:
        page("<title>App</title><div id=root></div><script>start()</script>")
    assert caught.value.reason == "empty"


def test_too_many_tags(monkeypatch):
    monkeypatch.setattr(html_source, "MOST_TAGS", 3)
    assert text_of("<b>a<b>b<b>c") == "abc\n"
    assert refusal("<b>a<b>b<b>c<b>d") == "too_large"


SIZE = 100_000
HOSTILE = {
    "tags that never end": '<p m="1"' * (SIZE // 8),
    "quotes": '"' * 20 + "A" * SIZE,
    "backticks": "".join("`" * (i % 40) + "x" for i in range(5000)),
    "comments that never end": "<!--x>" * (SIZE // 6),
    "declarations": "<!x" * (SIZE // 3),
    "end tags": "</a" * (SIZE // 3),
    "brackets": "<" * SIZE,
    "attributes": "<a " + "b=c " * SIZE + ">x",
    "quoted attributes": "<a " + "b='\"" * SIZE + ">x",
    "a huge reference": "x&#" + "9" * SIZE + ";<img alt='&#x" + "f" * SIZE + ";'>",
    "ampersands": "&" * SIZE,
    "items": "<li>x" * 5000,
    "paragraphs": "<p>x" * 5000,
    "numbered": "<ol>" + "<li>x</li>" * 5000,
    "headings": "<h1>x" * 5000,
    "breaks": "<b>x<br></b>" * 3000,
    "wide cells": "<table>" + "<tr><td colspan=1000>x<td rowspan=9999>y" * 2000,
    "deep lists": "<ul><li>" * 100 + "x<br><br>" * 2000,
    "spaces": "x" + " " * SIZE + "$",
    "hashes": "#" * SIZE,
    "tildes": "~" * SIZE,
    "one script": "<script>" * (SIZE // 8),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_end(name):
    """Z02. The sizes are such that time quadratic in them would be minutes."""
    source = HOSTILE[name]
    if name in {"comments that never end", "one script"}:
        assert refusal(source) == "empty"
    else:
        assert 0 < len(text_of(source)) < 25 * len(source) + 100


@pytest.mark.parametrize(
    "tag", ["<div>", "<span>", "<b>x", "<ul><li>", "<table><tr><td>", "<blockquote>x", "<pre>", "<svg>"]
)
def test_deep_nesting_is_refused(tag):
    assert refusal(tag * 100_000 + "text") == "malformed"
    assert "text" in text_of(tag * 80 + "text")


def test_text_of_the_real_pages(shared):
    files = shared / "data" / "files"
    blog = extract((files / "markitdown__test_blog.html").read_bytes(), suffix=".html")
    assert blog.title.startswith("Does Model and Inference Parameter Matter in LLM Applications?")
    assert "\n- max_tokens: The maximum number of tokens that can be generated for each output." in blog.text
    wiki = extract((files / "markitdown__test_wikipedia.html").read_bytes(), suffix=".html")
    assert wiki.title == "Microsoft - Wikipedia"
    headings = re.findall("^#+ .*", wiki.text, re.MULTILINE)
    assert headings[:4] == ["## Contents", "# Microsoft", "## History", "### 1972–1985: Founding"]
    assert "\n| 2005 | 39,788 | 12,254 | 70,815 | 61,000 |\n" in wiki.text
    steel = extract((files / "unstructured__example-steelJIS-datasheet-utf-16.html").read_bytes(), suffix=".html")
    assert steel.encoding == "utf-16-le"
    assert (
        "| C | Si | Mn | P | S | Cr | Mo |\n|---|---|---|---|---|---|---|\n| 0.39 - 0.46 | 0.2 - 0.35 |" in steel.text
    )
    for found in (blog, wiki, steel):
        assert not re.search(r"\n{3}|[ \t]\n|\\[_*]|<(?:div|span|script)", found.text)
