#include <doctest/doctest.h>

#include <string>

#include "pincite/error.hpp"
#include "pincite/structural.hpp"

namespace {

using namespace pincite;

std::vector<StructuralSpan> pack(std::u32string_view text, std::int64_t target, std::int64_t overlap = 0,
                                 const std::vector<Cut>& cuts = {}, const std::vector<Atom>& atoms = {}) {
  const auto size = static_cast<std::int64_t>(text.size());
  const std::vector<std::int64_t> sections = {0, size};
  const std::vector<TextSpan> prose = {{0, size}};
  return pack_structural(text, {sections, cuts, prose, atoms}, {target, overlap, {}, {}});
}

TEST_CASE("structural: the last place of the best rank within reach") {
  const auto spans = pack(U"aa bb. cc dd\nee ff", 14, 0, {{13, CutRank::block}, {10, CutRank::unit}});
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].end == 12);
  CHECK(spans[1].start == 13);
  CHECK(pack(U"aa bb. cc dd ee", 12)[0].end == 6);
}

TEST_CASE("structural: a word beyond the target is cut between characters") {
  const auto spans = pack(U"  e\u0301e\u0301e\u0301e\u0301", 3);
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].start == 2);
  CHECK(spans[0].end == 4);
}

TEST_CASE("structural: overlap begins at a word and stays in the section") {
  const auto spans = pack(U"one two three four", 9, 6);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].covered_start == 0);
  CHECK(spans[1].start == 8);
  CHECK(spans[1].covered_start == 4);
}

TEST_CASE("structural: an atom may run to 5/4 of the target, and a later part names it") {
  const std::u32string text = U"hh\nr1 aa\nr2 bb\n";
  const std::vector<Cut> rows = {{3, CutRank::unit}, {9, CutRank::unit}};
  CHECK(pack(text, 12, 0, rows, {{0, 3, 15}}).size() == 1);
  const auto parts = pack(text, 10, 0, rows, {{0, 3, 15}});
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].context == -1);
  CHECK(parts[1].context == 0);
}

TEST_CASE("structural: word pieces bound a span before the target does") {
  const std::u32string text = U"a b c d e f";
  const std::vector<std::int64_t> ends = {1, 3, 5, 7, 9, 11};
  const std::vector<std::int64_t> sections = {0, 11};
  const std::vector<std::int64_t> budgets = {2};
  const auto spans = pack_structural(text, {sections, {}, {}, {}}, {100, 50, ends, budgets});
  REQUIRE(spans.size() == 3);
  CHECK(spans[1].start == 4);
  CHECK(spans[1].covered_start == 4);
}

TEST_CASE("structural: nothing in, nothing out") {
  CHECK(pack(U"", 5).empty());
  CHECK(pack(U" \n\t", 5).empty());
  CHECK(pack_structural(U"text", {}, {5, 0, {}, {}}).empty());
  CHECK(sentence_ends(U"").empty());
}

TEST_CASE("structural: sentence ends") {
  using Ends = std::vector<std::int64_t>;
  CHECK(sentence_ends(U"One. Two") == Ends{5, 8});
  CHECK(sentence_ends(U"Dr. X is 3.5!") == Ends{13});
  CHECK(sentence_ends(U"\u4E00\u3002\u4E8C\uFF0E\u4E09\uFF01") == Ends{2, 4, 6});
}

TEST_CASE("structural: a target beyond any text does not overflow") {
  constexpr std::int64_t huge = INT64_MAX;
  CHECK(pack(U"a b", huge, huge - 1).size() == 1);
}

TEST_CASE("structural: bad limits and layouts") {
  CHECK_THROWS_AS((void)pack(U"a", 0), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"a", 4, 4), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"a", 4, -1), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"a", 4, 0, {{2, CutRank::unit}}), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"a", 4, 0, {{0, CutRank::sentence}}), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"abc", 4, 0, {}, {{0, 1, 2}, {1, 2, 3}}), InvalidInputError);
  CHECK_THROWS_AS((void)pack(U"abc", 4, 0, {}, {{-1, 1, 2}}), InvalidInputError);
}

}  // namespace
