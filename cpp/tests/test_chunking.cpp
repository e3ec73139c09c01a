#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pincite/chunking.hpp"
#include "pincite/error.hpp"
#include "pincite/utf8.hpp"

namespace {

using pincite::chunk_blind;
using pincite::chunk_sections;
using pincite::Chunks;
using Strings = std::vector<std::string>;

std::string slice(const std::string& text, std::uint32_t start, std::uint32_t end) {
  return pincite::encode_utf8(pincite::decode_utf8(text).substr(start, end - start));
}

Strings contents(const std::string& text, const Chunks& chunks) {
  Strings out;
  for (const auto& span : chunks.spans) out.push_back(slice(text, span.start, span.end));
  return out;
}

Strings covered(const std::string& text, const Chunks& chunks) {
  Strings out;
  for (const auto& span : chunks.spans) out.push_back(slice(text, span.covered_start, span.end));
  return out;
}

TEST_CASE("chunking: blind cuts cover the text and count UTF-16 units") {
  const std::string text = "ab\U0001F4F7 \U0001F4F7cdefghijklmnop";
  CHECK(contents(text, chunk_blind(text, 3)) ==
        Strings{"ab", "\U0001F4F7 ", "\U0001F4F7c", "def", "ghi", "jkl", "mno", "p"});
  CHECK(contents(text, chunk_blind(text, 12)) == Strings{"ab\U0001F4F7 \U0001F4F7cdefg", "hijklmnop"});
}

TEST_CASE("chunking: a code point larger than the target is a chunk") {
  const std::string text = "\U0001F680a\U0001F680";
  CHECK(contents(text, chunk_blind(text, 1)) == Strings{"\U0001F680", "a", "\U0001F680"});
}

TEST_CASE("chunking: a cut is the last one within the target, wherever the wide code points stand") {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string text = std::string(before, 'a') + "\U0001F680\u00E9\U0001F680" + std::string(9, 'b');
    const std::u32string points = pincite::decode_utf8(text);
    for (std::size_t target = 2; target < 30; ++target) {
      std::uint32_t at = 0;
      for (const auto& span : chunk_blind(text, target).spans) {
        REQUIRE(span.start == at);
        std::size_t units = 0;
        while (at < points.size() && units + pincite::utf16_units(points[at]) <= target) {
          units += pincite::utf16_units(points[at++]);
        }
        REQUIRE(span.end == at);
      }
      REQUIRE(at == points.size());
    }
  }
}

TEST_CASE("chunking: the overlap never begins with half of a pair") {
  const std::string text = "a\U0001F680bcd";
  CHECK(covered(text, chunk_blind(text, 3, 2)) == Strings{"a\U0001F680", "\U0001F680bcd"});
  CHECK(covered(text, chunk_blind(text, 3, 1)) == Strings{"a\U0001F680", "bcd"});
}

TEST_CASE("chunking: sections, packed paragraphs, sentences") {
  const std::string text = "lost\n## One \n\na b\n\nc d\n\ne. f g! h\n## Two\nx\n### three";
  const Chunks chunks = chunk_sections(text, 8);
  CHECK(contents(text, chunks) == Strings{"a b\n\nc d", "e. f g!", "h", "x\n### three"});
  REQUIRE(chunks.sections.size() == 2);
  CHECK(slice(text, chunks.sections[0].start, chunks.sections[0].end) == "One");
  CHECK(chunks.spans.back().section == 1);
}

TEST_CASE("chunking: the overlap stays within its section and is trimmed") {
  const std::string text = "## S\n\none\n\ntwo\n\n## T\n\nsix";
  CHECK(covered(text, chunk_sections(text, 4, 3)) == Strings{"one", "e\n\ntwo", "six"});
  CHECK(covered(text, chunk_sections(text, 4, 2)) == Strings{"one", "two", "six"});
}

TEST_CASE("chunking: line ends and white space are JavaScript's") {
  const std::string spaces = "\u00A0\uFEFF\u3000\u2028 \t\v\f\r\n";
  const std::string text = "a\u2028## T\u2029" + spaces + "\u0085b" + spaces;
  CHECK(contents(text, chunk_sections(text, 64)) == Strings{"\u0085b"});
}

TEST_CASE("chunking: nothing in, nothing out") {
  CHECK(chunk_blind("", 1).spans.empty());
  CHECK(chunk_sections("", 1).spans.empty());
  CHECK(chunk_sections("no heading", 1).sections.empty());
  CHECK(chunk_sections("## T", 1).spans.empty());
  CHECK(chunk_sections("## \n##\n#### x", 1).sections.empty());
}

TEST_CASE("chunking: bad arguments") {
  CHECK_THROWS_AS((void)chunk_blind("x", 0), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)chunk_sections("x", 4, 4), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)chunk_blind("0123456\xC3", 4), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)chunk_sections("\xE2\x80", 4), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)chunk_sections("\xED\xA0\x80", 4), pincite::InvalidInputError);
}

}  // namespace
