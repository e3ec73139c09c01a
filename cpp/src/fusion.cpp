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

struct Seen {
  std::size_t last_list;  // that has counted the id
  bool more_than_once;
};

constexpr auto before = [](const FusedHit& a, const FusedHit& b) {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
};

// Sorts by merging: the ids that one list alone holds are in order as they come, only the others have to be
// sorted. `begins`: of each list, where in `fused` the ids begin that it was the first to hold.
std::vector<FusedHit> ordered_from(std::span<const FusedHit> fused, std::span<const Seen> seen,
                                   std::vector<std::size_t> begins) {
  std::vector<FusedHit> ordered;
  ordered.reserve(fused.size());
  std::vector<std::size_t> ends = {0};  // of the runs in `ordered`
  ends.reserve(begins.size() + 2);
  const auto end_run = [&] {
    const auto begin = ordered.begin() + static_cast<std::ptrdiff_t>(ends.back());
    // Already so, but where weights or a huge k make scores equal.
    if (!std::is_sorted(begin, ordered.end(), before)) std::sort(begin, ordered.end(), before);
    if (ordered.size() > ends.back()) ends.push_back(ordered.size());
  };
  begins.push_back(fused.size());
  for (std::size_t l = 0; l + 1 < begins.size(); ++l) {
    for (std::size_t i = begins[l]; i < begins[l + 1]; ++i) {
      if (!seen[i].more_than_once) ordered.push_back(fused[i]);
    }
    end_run();
  }
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (seen[i].more_than_once) ordered.push_back(fused[i]);
  }
  end_run();
  std::vector<FusedHit> merged(ordered.size());
  while (ends.size() > 2) {  // neighbours by twos
    std::size_t runs = 0;
    for (std::size_t run = 0; run + 1 < ends.size(); run += 2) {
      const std::size_t last = std::min(run + 2, ends.size() - 1);
      const auto at = [&](std::size_t end) { return ordered.begin() + static_cast<std::ptrdiff_t>(end); };
      std::merge(at(ends[run]), at(ends[run + 1]), at(ends[run + 1]), at(ends[last]),
                 merged.begin() + static_cast<std::ptrdiff_t>(ends[run]), before);
      ends[++runs] = ends[last];
    }
    std::swap(ordered, merged);
    ends.resize(runs + 1);
  }
  return ordered;
}

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
  std::vector<Seen> seen;  // of each place
  seen.reserve(total);
  std::vector<std::size_t> begins;  // where the ids begin that a list was the first to hold
  begins.reserve(lists.size() + 1);
  Places places(total, fused);
  for (std::size_t l = 0; l < lists.size(); ++l) {
    begins.push_back(fused.size());
    const double weight = weights.empty() ? 1.0 : weights[l];
    for (std::size_t rank = 1; rank <= lists[l].size(); ++rank) {
      const std::int64_t id = lists[l][rank - 1];
      if (id == padding_id) continue;
      const double gain = weight / (k + static_cast<double>(rank));
      std::size_t& place = places[id];
      if (place == Places::empty) {
        place = fused.size();
        fused.push_back({id, gain});
        seen.push_back({l, false});
      } else if (seen[place].last_list != l) {
        seen[place] = {l, true};
        fused[place].score += gain;
      }
    }
  }
  std::vector<FusedHit> ordered = ordered_from(fused, seen, std::move(begins));
  if (limit > 0 && limit < ordered.size()) ordered.resize(limit);
  return ordered;
}

}  // namespace pincite
