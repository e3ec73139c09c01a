#include <doctest/doctest.h>

#include <limits>

#include "pincite/error.hpp"
#include "pincite/fusion.hpp"

namespace {

using pincite::reciprocal_rank_fusion;
using List = std::vector<std::int64_t>;

std::vector<std::span<const std::int64_t>> spans(const std::vector<List>& lists) {
  return {lists.begin(), lists.end()};
}

TEST_CASE("fusion: ranks start at 1 and lists add up") {
  const std::vector<List> lists = {{7, 3, 5}, {3, 9}};
  const auto fused = reciprocal_rank_fusion(spans(lists));
  REQUIRE(fused.size() == 4);
  CHECK(fused[0].id == 3);
  CHECK(fused[0].score == 1.0 / 62 + 1.0 / 61);
  CHECK(fused[1].id == 7);
  CHECK(fused[2].id == 9);
  CHECK(fused[3].id == 5);
}

TEST_CASE("fusion: a repeated id counts once a list, at its best rank") {
  const std::vector<List> lists = {{4, 4, 4, 8}, {8, 8}};
  const auto fused = reciprocal_rank_fusion(spans(lists));
  REQUIRE(fused.size() == 2);
  CHECK(fused[0].id == 8);
  CHECK(fused[0].score == 1.0 / 64 + 1.0 / 61);
  CHECK(fused[1].score == 1.0 / 61);
}

TEST_CASE("fusion: ties go to the smaller id, also under a limit") {
  const std::vector<List> lists = {{9}, {2}, {5}, {-4}};
  const auto fused = reciprocal_rank_fusion(spans(lists), 60.0, {}, 2);
  REQUIRE(fused.size() == 2);
  CHECK(fused[0].id == -4);
  CHECK(fused[1].id == 2);
}

TEST_CASE("fusion: padding is passed over, and keeps the ranks behind it") {
  const std::vector<List> lists = {{3, -1, -1}, {-1, 4}};
  const auto fused = reciprocal_rank_fusion(spans(lists));
  REQUIRE(fused.size() == 2);
  CHECK(fused[0].id == 3);
  CHECK(fused[1].id == 4);
  CHECK(fused[1].score == 1.0 / 62);
}

TEST_CASE("fusion: nothing in, nothing out") {
  CHECK(reciprocal_rank_fusion({}).empty());
  const std::vector<List> lists = {{}, {}};
  CHECK(reciprocal_rank_fusion(spans(lists)).empty());
}

TEST_CASE("fusion: bad arguments") {
  const std::vector<List> lists = {{1}};
  const std::vector<double> two = {1.0, 1.0};
  const std::vector<double> negative = {-1.0};
  CHECK_THROWS_AS((void)reciprocal_rank_fusion(spans(lists), -1.0), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)reciprocal_rank_fusion(spans(lists), std::numeric_limits<double>::quiet_NaN()),
                  pincite::InvalidInputError);
  CHECK_THROWS_AS((void)reciprocal_rank_fusion(spans(lists), 60.0, two), pincite::InvalidInputError);
  CHECK_THROWS_AS((void)reciprocal_rank_fusion(spans(lists), 60.0, negative), pincite::InvalidInputError);
}

}  // namespace
