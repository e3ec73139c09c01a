#include "pincite/fusion.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "pincite/error.hpp"

namespace pincite {
namespace {

// Where an id stands in the result, and the last list that has counted it.
struct Seen {
  std::size_t place;
  std::size_t list;
};

void check(std::size_t lists, double k, std::span<const double> weights) {
  if (!std::isfinite(k) || k < 0.0) {
    throw InvalidInputError("k is " + std::to_string(k) +
                            ", wanted a finite number of at least 0 (default 60)");
  }
  if (!weights.empty() && weights.size() != lists) {
    throw InvalidInputError(std::to_string(weights.size()) + " weights given for " + std::to_string(lists) +
                            " lists; give one weight a list, or none");
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0.0) {
      throw InvalidInputError("weight " + std::to_string(i) + " is " + std::to_string(weights[i]) +
                              ", wanted a finite number of at least 0");
    }
  }
}

}  // namespace

std::vector<FusedHit> reciprocal_rank_fusion(std::span<const std::span<const std::int64_t>> lists, double k,
                                             std::span<const double> weights, std::size_t limit) {
  check(lists.size(), k, weights);
  std::size_t total = 0;
  for (const auto& list : lists) total += list.size();

  std::vector<FusedHit> fused;
  fused.reserve(total);
  std::unordered_map<std::int64_t, Seen> seen;
  seen.reserve(total);
  for (std::size_t l = 0; l < lists.size(); ++l) {
    const double weight = weights.empty() ? 1.0 : weights[l];
    for (std::size_t rank = 1; rank <= lists[l].size(); ++rank) {
      const std::int64_t id = lists[l][rank - 1];
      if (id == padding_id) continue;
      const double gain = weight / (k + static_cast<double>(rank));
      const auto [at, fresh] = seen.try_emplace(id, Seen{fused.size(), l});
      if (fresh) {
        fused.push_back({id, gain});
      } else if (at->second.list != l) {
        at->second.list = l;
        fused[at->second.place].score += gain;
      }
    }
  }

  const auto order = [](const FusedHit& a, const FusedHit& b) {
    return a.score > b.score || (a.score == b.score && a.id < b.id);
  };
  if (limit > 0 && limit < fused.size()) {
    std::partial_sort(fused.begin(), fused.begin() + static_cast<std::ptrdiff_t>(limit), fused.end(), order);
    fused.resize(limit);
  } else {
    std::sort(fused.begin(), fused.end(), order);
  }
  return fused;
}

}  // namespace pincite
