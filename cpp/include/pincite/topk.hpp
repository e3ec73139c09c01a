// The k best of a stream, in the one order used everywhere: score descending, then id ascending.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pincite {

template <class Score>
struct Hit {
  std::uint32_t id;
  Score score;
};

template <class Score>
[[nodiscard]] constexpr bool better(const Hit<Score>& a, const Hit<Score>& b) noexcept {
  return a.score > b.score || (a.score == b.score && a.id < b.id);
}

template <class Score>
class TopK {
 public:
  explicit TopK(std::size_t k) : k_(k) { heap_.reserve(std::min<std::size_t>(k, 4096)); }

  [[nodiscard]] bool full() const noexcept { return heap_.size() >= k_; }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// The hit that the next one has to beat. Only when `full()` and k > 0.
  [[nodiscard]] const Hit<Score>& worst() const noexcept { return heap_.front(); }

  /// Keeps the hit if it is among the k best so far; says whether it was.
  bool offer(Hit<Score> hit) {
    if (heap_.size() < k_) {
      heap_.push_back(hit);
      std::push_heap(heap_.begin(), heap_.end(), better<Score>);
      return true;
    }
    if (k_ == 0 || !better(hit, heap_.front())) return false;
    std::pop_heap(heap_.begin(), heap_.end(), better<Score>);
    heap_.back() = hit;
    std::push_heap(heap_.begin(), heap_.end(), better<Score>);
    return true;
  }

  /// The hits, best first. Leaves the collector empty.
  [[nodiscard]] std::vector<Hit<Score>> take() {
    std::sort(heap_.begin(), heap_.end(), better<Score>);
    return std::exchange(heap_, {});
  }

 private:
  std::size_t k_;
  std::vector<Hit<Score>> heap_;  // the worst on top
};

}  // namespace pincite
