// A set of row ids, one bit each: what filters and permissions are, once inside the core.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace pincite {

class Bitmap {
 public:
  explicit Bitmap(std::size_t size) : size_(size), words_((size + 63) / 64) {}

  /// The bits of a mask with one byte a row: any byte but 0 is set.
  [[nodiscard]] static Bitmap of_bytes(std::span<const std::uint8_t> mask) {
    Bitmap out(mask.size());
    std::size_t i = 0;
    if constexpr (std::endian::native == std::endian::little) {
      for (; i + 8 <= mask.size(); i += 8) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, mask.data() + i, 8);
        if (bytes == 0) continue;
        // Each byte's bits are gathered in its lowest one, and the product moves those eight to the top.
        bytes |= bytes >> 4U;
        bytes |= bytes >> 2U;
        bytes |= bytes >> 1U;
        bytes = (bytes & 0x0101010101010101U) * 0x0102040810204080U >> 56U;
        out.words_[i >> 6] |= bytes << (i & 63);
      }
    }
    for (; i < mask.size(); ++i) {
      if (mask[i] != 0) out.set(i);
    }
    return out;
  }

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
