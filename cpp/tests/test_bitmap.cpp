#include <doctest/doctest.h>

#include "pincite/bitmap.hpp"

namespace {

TEST_CASE("bitmap: set, reset, count and visit, across word borders") {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 200U}) {
    pincite::Bitmap bitmap(size);
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < size; i += 3) {
      bitmap.set(i);
      expected.push_back(static_cast<std::uint32_t>(i));
    }
    CHECK(bitmap.size() == size);
    CHECK(bitmap.count() == expected.size());
    std::vector<std::uint32_t> visited;
    bitmap.for_each([&](std::uint32_t id) { visited.push_back(id); });
    CHECK(visited == expected);
    for (std::size_t i = 0; i < size; ++i) CHECK(bitmap.test(i) == (i % 3 == 0));
    for (const std::uint32_t id : expected) bitmap.reset(id);
    CHECK(bitmap.count() == 0);
  }
}

TEST_CASE("bitmap: a mask's bytes, of which any but 0 is set") {
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 200U}) {
    std::vector<std::uint8_t> mask(size);
    for (std::size_t i = 0; i < size; ++i)
      mask[i] = static_cast<std::uint8_t>(i % 5 == 0 ? 0U : 1U << (i % 8));
    const auto bitmap = pincite::Bitmap::of_bytes(mask);
    CHECK(bitmap.size() == size);
    for (std::size_t i = 0; i < size; ++i) CHECK(bitmap.test(i) == (mask[i] != 0));
  }
}

}  // namespace
