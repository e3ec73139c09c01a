#include <doctest/doctest.h>

#include <random>

#include "pincite/topk.hpp"

namespace {

using Hit = pincite::Hit<double>;

TEST_CASE("topk: the same as sorting everything, ties by id, whatever the order of arrival") {
  std::mt19937 random(3);
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<Hit> all;
    for (std::uint32_t id = 0; id < n; ++id) all.push_back({id, static_cast<double>(random() % 5)});
    std::vector<Hit> sorted = all;
    std::sort(sorted.begin(), sorted.end(), pincite::better<double>);
    std::shuffle(all.begin(), all.end(), random);
    for (std::size_t k = 0; k <= n + 1; ++k) {
      pincite::TopK<double> best(k);
      for (const Hit& hit : all) best.offer(hit);
      const std::vector<Hit> found = best.take();
      REQUIRE(found.size() == std::min(k, n));
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].id == sorted[i].id);
        CHECK(found[i].score == sorted[i].score);
      }
    }
  }
}

}  // namespace
