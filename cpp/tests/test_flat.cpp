#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "pincite/error.hpp"
#include "pincite/flat.hpp"

namespace {

using pincite::FlatIndex;
using pincite::Storage;

std::vector<float> random_rows(std::size_t count, std::size_t dim, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> out(count * dim);
  for (float& x : out) x = uniform(random);
  return out;
}

void check_same(const std::vector<FlatIndex::Hits>& found, const std::vector<FlatIndex::Hits>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t q = 0; q < found.size(); ++q) {
    REQUIRE(found[q].size() == expected[q].size());
    for (std::size_t i = 0; i < found[q].size(); ++i) {
      CHECK(found[q][i].id == expected[q][i].id);
      CHECK(found[q][i].score == expected[q][i].score);
    }
  }
}

TEST_CASE("flat: best first, ties by id") {
  const std::vector<float> rows = {0, 1, 1, 0, 1, 0, 0.6F, 0.8F};
  const auto index = FlatIndex::build(pincite::Vectors::copy(rows, 2, false), Storage::float32);
  const std::vector<float> query = {1, 0};
  const auto hits = index.search(query, 3)[0];
  REQUIRE(hits.size() == 3);
  CHECK(hits[0].id == 1);
  CHECK(hits[1].id == 2);
  CHECK(hits[2].id == 3);
  CHECK(hits[2].score == 0.6F);
}

TEST_CASE("flat: storage, kernels, threads and filters agree") {
  constexpr std::size_t dim = 37;
  const auto vectors = pincite::Vectors::copy(random_rows(2000, dim, 1), dim, true);
  const auto queries = pincite::Vectors::copy(random_rows(5, dim, 2), dim, true);
  pincite::Bitmap some(2000);
  for (std::size_t i = 0; i < 2000; i += (i < 1000 ? 100 : 2)) some.set(i);
  const std::vector<const pincite::Bitmap*> filters = {nullptr, &some};
  for (const pincite::Bitmap* allowed : filters) {
    const auto plain = FlatIndex::build(vectors, Storage::float32);
    const auto expected = plain.search(queries->values(), 25, allowed, 1, pincite::kernel_by_name("scalar"));
    for (const Storage storage : {Storage::float32, Storage::float16, Storage::int8}) {
      const auto index = FlatIndex::build(vectors, storage);
      for (const pincite::Kernel* kernel : pincite::available_kernels()) {
        for (const std::size_t threads : {1U, 3U}) {
          check_same(index.search(queries->values(), 25, allowed, threads, *kernel), expected);
          check_same(index.search({queries->row(0), dim}, 25, allowed, threads, *kernel), {expected[0]});
        }
      }
    }
  }
}

TEST_CASE("flat: an exception on a thread arrives here") {
  std::vector<float> rows = random_rows(1000, 8, 3);
  rows[8 * 900] = std::nanf("");
  const auto owner = std::make_shared<std::vector<float>>(rows);
  const auto index = FlatIndex::build(pincite::Vectors::view(*owner, 8, owner), Storage::float32);
  const std::vector<float> query = {1, 0, 0, 0, 0, 0, 0, 0};
  CHECK_THROWS_AS((void)index.search(query, 5, nullptr, 4), pincite::IndexCorruptError);
  CHECK_THROWS_AS((void)index.search(query, 5, nullptr, 0), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)index.search(query, 0), pincite::InvalidInputError);
}

}  // namespace
