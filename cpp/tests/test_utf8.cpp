#include <doctest/doctest.h>

#include "pincite/error.hpp"
#include "pincite/utf8.hpp"

namespace {

using pincite::decode_utf8;

TEST_CASE("utf8: every scalar value survives the round trip") {
  std::u32string all;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c < 0xD800 || c > 0xDFFF) all.push_back(c);
  }
  const std::string text = pincite::encode_utf8(all);
  CHECK(decode_utf8(text) == all);
  CHECK_NOTHROW(pincite::check_utf8(text));
}

TEST_CASE("utf8: malformed bytes are refused with their place") {
  const std::string bad[] = {
      "ab\x80",
      "ab\xC0\x80",
      "ab\xC1\xBF",
      "ab\xC3",
      "ab\xC3(",
      "ab\xE0\x80\x80",
      "ab\xED\xA0\x80",
      "ab\xE2\x82",
      "ab\xF0\x8F\xBF\xBF",
      "ab\xF4\x90\x80\x80",
      "ab\xF5\x80\x80\x80",
      "ab\xFF",
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)decode_utf8(text), doctest::Contains("byte offset 2"),
                         pincite::InvalidInputError);
    CHECK_THROWS_WITH_AS(pincite::check_utf8(text), doctest::Contains("byte offset 2"),
                         pincite::InvalidInputError);
  }
}

TEST_CASE("utf8: UTF-16 units") {
  CHECK(pincite::utf16_units(U'a') == 1);
  CHECK(pincite::utf16_units(0xFFFF) == 1);
  CHECK(pincite::utf16_units(0x10000) == 2);
}

}  // namespace
