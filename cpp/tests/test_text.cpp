#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pincite/error.hpp"
#include "pincite/text.hpp"
#include "pincite/utf8.hpp"

namespace {

using pincite::AnalysisMode;
using pincite::Analyzer;

struct Seen {
  std::string term;
  std::uint32_t start;
  std::uint32_t end;
  std::uint32_t position;
  bool prefix = false;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> tokens(std::string_view text, Analyzer analyzer = Analyzer::unicode,
                         AnalysisMode mode = AnalysisMode::index) {
  std::vector<Seen> out;
  pincite::analyze(text, analyzer, mode, [&out](const pincite::Token& token) {
    out.push_back({std::string(token.term), token.start, token.end, token.position, token.prefix});
  });
  return out;
}

std::string utf8(std::u32string_view text) { return pincite::encode_utf8(text); }

TEST_CASE("text: offsets count code points in both analyzers") {
  const std::string text = utf8(U"i \u2B62 j \U0001F4F7 e\u0301\r\nx");
  CHECK(tokens(text) == std::vector<Seen>{{"i", 0, 1, 0}, {"j", 4, 5, 1}, {"e", 8, 10, 2}, {"x", 12, 13, 3}});
  CHECK(tokens(text, Analyzer::ascii) ==
        std::vector<Seen>{{"i", 0, 1, 0}, {"j", 4, 5, 1}, {"e", 8, 9, 2}, {"x", 12, 13, 3}});
}

TEST_CASE("text: ASCII words keep inner punctuation as UAX #29 says") {
  CHECK(tokens("Can't 3.14, a.b. x_1; 1:2 a:b --") == std::vector<Seen>{{"can't", 0, 5, 0},
                                                                        {"3.14", 6, 10, 1},
                                                                        {"a.b", 12, 15, 2},
                                                                        {"x_1", 17, 20, 3},
                                                                        {"1", 22, 23, 4},
                                                                        {"2", 24, 25, 5},
                                                                        {"a:b", 26, 29, 6}});
}

TEST_CASE("text: a mark after ASCII belongs to what it stands on") {
  // The ASCII way through the analyzer must not take a word, or a space, from under its mark.
  CHECK(tokens(utf8(U"ab c\u0301d ef")) ==
        std::vector<Seen>{{"ab", 0, 2, 0}, {"cd", 3, 6, 1}, {"ef", 7, 9, 2}});
  CHECK(tokens(utf8(U"a  \u093F b")) ==
        std::vector<Seen>{{"a", 0, 1, 0}, {utf8(U"\u093F"), 1, 4, 1}, {"b", 5, 6, 2}});
  CHECK(tokens(utf8(U"a:\u0301b")) == std::vector<Seen>{{utf8(U"a:\u0301b"), 0, 4, 0}});
}

TEST_CASE("text: runs without spaces give pairs, and a lone character in a query is a prefix") {
  const std::string run = utf8(U"\u6771\u4EAC\u90FD");
  const std::string first = utf8(U"\u6771\u4EAC");
  const std::string second = utf8(U"\u4EAC\u90FD");
  const std::string last = utf8(U"\u90FD");
  CHECK(tokens(run) == std::vector<Seen>{{first, 0, 2, 0}, {second, 1, 3, 1}, {last, 2, 3, 1}});
  CHECK(tokens(run, Analyzer::unicode, AnalysisMode::query) ==
        std::vector<Seen>{{first, 0, 2, 0}, {second, 1, 3, 1}});
  CHECK(tokens(last) == std::vector<Seen>{{last, 0, 1, 0, false}});
  CHECK(tokens(last, Analyzer::unicode, AnalysisMode::query) == std::vector<Seen>{{last, 0, 1, 0, true}});
}

TEST_CASE("text: half-width kana fold to one character with the offsets of both") {
  const std::string term = utf8(U"\u30AC\u30B9");
  CHECK(tokens(utf8(U"\uFF76\uFF9E\uFF7D"), Analyzer::unicode, AnalysisMode::query) ==
        std::vector<Seen>{{term, 0, 3, 0}});
}

TEST_CASE("text: what folds to nothing is no token and takes no position") {
  CHECK(tokens(utf8(U"a \u3164 b")) == std::vector<Seen>{{"a", 0, 1, 0}, {"b", 4, 5, 1}});
}

TEST_CASE("text: bytes that are no UTF-8 are refused by both analyzers, with their place") {
  const std::vector<std::string> bad = {"\x80",
                                        "\xC1\x81",
                                        "\xC3",
                                        "\xE0\x80\x80",
                                        "\xED\xA0\x80",
                                        "\xF0\x8F\xBF\xBF",
                                        "\xF4\x90\x80\x80",
                                        "\xF8\x88\x80\x80",
                                        "\xFF",
                                        "\xE6\x9D",
                                        "\xE6\x9Dx"};
  for (const std::string& bytes : bad) {
    for (const Analyzer analyzer : {Analyzer::ascii, Analyzer::unicode}) {
      for (const std::string& before : {std::string(), std::string("a word "), utf8(U"\u00E9 ")}) {
        const std::string place = "at byte offset " + std::to_string(before.size()) + ";";
        CAPTURE(place);
        CHECK_THROWS_WITH_AS((void)tokens(before + bytes + " x", analyzer), doctest::Contains(place.c_str()),
                             pincite::InvalidInputError);
      }
    }
  }
}

TEST_CASE("text: analyzers have names") {
  for (const Analyzer analyzer : {Analyzer::ascii, Analyzer::unicode}) {
    CHECK(pincite::parse_analyzer(pincite::analyzer_name(analyzer)) == analyzer);
  }
  CHECK_THROWS_AS((void)pincite::parse_analyzer("Ascii"), pincite::InvalidInputError);
}

}  // namespace
