#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <thread>

#include "pincite/error.hpp"
#include "pincite/hnsw.hpp"
#include "random_unit_rows.hpp"

namespace {

using pincite::HnswAnswer;
using pincite::HnswIndex;
using pincite::HnswPath;
using pincite::Vectors;

constexpr std::size_t dim = 24;

bool equal(const std::vector<HnswAnswer>& a, const std::vector<HnswAnswer>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t q = 0; q < a.size(); ++q) {
    if (a[q].hits.size() != b[q].hits.size() || a[q].scored != b[q].scored) return false;
    for (std::size_t i = 0; i < a[q].hits.size(); ++i) {
      if (a[q].hits[i].id != b[q].hits[i].id || a[q].hits[i].score != b[q].hits[i].score) return false;
    }
  }
  return true;
}

TEST_CASE("hnsw: every row finds itself") {
  const auto rows = random_unit_rows(1000, dim, 1);
  const HnswIndex index = HnswIndex::build(rows, {});
  const auto answers = index.search(rows->values(), 1, 40, nullptr, 1, HnswPath::graph);
  for (std::size_t row = 0; row < rows->size(); ++row) CHECK(answers[row].hits[0].id == row);
}

TEST_CASE("hnsw: searches side by side give the same answers") {
  const HnswIndex index = HnswIndex::build(random_unit_rows(1500, dim, 2), {});
  const auto queries = random_unit_rows(20, dim, 3);
  pincite::Bitmap odd(1500);
  for (std::size_t row = 1; row < 1500; row += 2) odd.set(row);
  const auto all = index.search(queries->values(), 10, 40, nullptr, 1, HnswPath::graph);
  const auto some = index.search(queries->values(), 10, 40, &odd, 1, HnswPath::graph);
  std::vector<int> same(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      same[t] = equal(all, index.search(queries->values(), 10, 40, nullptr, 2, HnswPath::graph)) &&
                equal(some, index.search(queries->values(), 10, 40, &odd, 1, HnswPath::graph));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int one : same) CHECK(one == 1);
}

TEST_CASE("hnsw: a filter never starves k") {
  const HnswIndex index = HnswIndex::build(random_unit_rows(10, dim, 4), {});
  const auto query = random_unit_rows(1, dim, 5);
  pincite::Bitmap one(10);
  one.set(7);
  for (const std::size_t ef : {std::size_t{1}, std::size_t{50}}) {
    const auto answers = index.search(query->values(), 5, ef, &one);
    REQUIRE(answers[0].hits.size() == 1);
    CHECK(answers[0].hits[0].id == 7);
  }
}

TEST_CASE("hnsw: a saved index answers as before") {
  const HnswIndex index = HnswIndex::build(random_unit_rows(300, dim, 6), {});
  const auto path = std::filesystem::temp_directory_path() / "pincite_test_hnsw";
  index.save(path);
  const auto queries = random_unit_rows(5, dim, 7);
  {
    const HnswIndex loaded = HnswIndex::load(path);
    CHECK(equal(index.search(queries->values(), 10, 40, nullptr, 1, HnswPath::graph),
                loaded.search(queries->values(), 10, 40, nullptr, 1, HnswPath::graph)));
  }
  std::filesystem::remove(path);
}

TEST_CASE("hnsw: a graph that is saved alone answers as before, over the same vectors") {
  const auto rows = random_unit_rows(300, dim, 6);
  const HnswIndex index = HnswIndex::build(rows, {});
  const auto path = std::filesystem::temp_directory_path() / "pincite_test_hnsw_graph";
  index.save_graph(path);
  const auto queries = random_unit_rows(5, dim, 7);
  {
    const HnswIndex loaded = HnswIndex::load_graph(path, rows);
    CHECK(&loaded.vectors() == rows.get());
    CHECK(equal(index.search(queries->values(), 10, 40, nullptr, 1, HnswPath::graph),
                loaded.search(queries->values(), 10, 40, nullptr, 1, HnswPath::graph)));
  }
  CHECK_THROWS_AS((void)HnswIndex::load_graph(path, random_unit_rows(299, dim, 6)),
                  pincite::IndexCorruptError);
  CHECK_THROWS_AS((void)HnswIndex::load(path), pincite::IncompatibleIndexError);
  std::filesystem::remove(path);
}

TEST_CASE("hnsw: nothing and one") {
  const auto query = random_unit_rows(1, dim, 8);
  CHECK(HnswIndex::build(random_unit_rows(0, dim, 9), {}).search(query->values(), 3, 40)[0].hits.empty());
  const HnswIndex one = HnswIndex::build(query, {});
  CHECK(one.search(query->values(), 3, 40, nullptr, 1, HnswPath::graph)[0].hits.size() == 1);
}

TEST_CASE("hnsw: bad arguments") {
  const auto rows = random_unit_rows(5, dim, 10);
  CHECK_THROWS_AS((void)HnswIndex::build(rows, {1, 64, 0, 1}), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)HnswIndex::build(rows, {16, 0, 0, 1}), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)HnswIndex::build(rows, {16, 64, 0, 0}), pincite::InvalidInputError);
  const HnswIndex index = HnswIndex::build(rows, {});
  CHECK_THROWS_AS((void)index.search(rows->values(), 0, 40), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)index.search(rows->values(), 1, 0), pincite::InvalidInputError);
}

}  // namespace
