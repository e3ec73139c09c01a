// A set of row ids, one bit each: what filters and permissions are, once inside the core.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pincite {

class Bitmap {
 public:
  explicit Bitmap(std::size_t size) : size_(size), words_((size + 63) / 64) {}

  void set(std::size_t i) noexcept { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  void reset(std::size_t i) noexcept { words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
  [[nodiscard]] bool test(std::size_t i) const noexcept { return (words_[i >> 6] >> (i & 63)) & 1U; }

  /// The number of rows the bitmap speaks about, set or not.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t n = 0;
    for (const std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }

  /// Calls `visit(id)` for every set bit, in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        visit(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }

 private:
  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

}  // namespace pincite
