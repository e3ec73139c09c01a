#include "pincite/fusion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pincite/error.hpp"

namespace pincite {
namespace {

// From ids to their places in the result: open addressing with linear probing, never more than half full.
class Places {
 public:
  Places(std::size_t most, const std::vector<FusedHit>& fused)
      : slots_(std::bit_ceil(2 * most + 2), empty), fused_(fused) {}

  // The place of an id, or a reference to where it is to be noted.
  std::size_t& operator[](std::int64_t id) {
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
    const std::uint64_t hash = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15ULL;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash >> 32U) & mask;
    while (slots_[at] != empty && fused_[slots_[at]].id != id) at = (at + 1) & mask;
    return slots_[at];
  }

  static constexpr std::size_t empty = static_cast<std::size_t>(-1);

 private:
  std::vector<std::size_t> slots_;
  const std::vector<FusedHit>& fused_;
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
  std::vector<std::size_t> last_list;  // of each place: the last list that has counted it
  last_list.reserve(total);
  Places places(total, fused);
  for (std::size_t l = 0; l < lists.size(); ++l) {
    const double weight = weights.empty() ? 1.0 : weights[l];
    for (std::size_t rank = 1; rank <= lists[l].size(); ++rank) {
      const std::int64_t id = lists[l][rank - 1];
      if (id == padding_id) continue;
      const double gain = weight / (k + static_cast<double>(rank));
      std::size_t& place = places[id];
      if (place == Places::empty) {
        place = fused.size();
        fused.push_back({id, gain});
        last_list.push_back(l);
      } else if (last_list[place] != l) {
        last_list[place] = l;
        fused[place].score += gain;
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
