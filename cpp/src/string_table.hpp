// Sorted, distinct strings in one blob: views into a built or a memory-mapped table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pincite {

class StringTable {
 public:
  StringTable() = default;
  /// String i is bytes[offsets[i], offsets[i + 1]).
  StringTable(std::span<const char> bytes, std::span<const std::uint64_t> offsets)
      : bytes_(bytes), offsets_(offsets) {
    for (std::size_t i = 0; i < size(); i += stride) heads_.push_back(head((*this)[i]));
  }

  [[nodiscard]] std::size_t size() const noexcept { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  [[nodiscard]] std::span<const char> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return offsets_; }

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view wanted) const noexcept {
    const std::size_t i = lower_bound(wanted);
    if (i == size() || (*this)[i] != wanted) return std::nullopt;
    return static_cast<std::uint32_t>(i);
  }

  /// The strings that begin with `prefix`, as [first, last).
  [[nodiscard]] std::pair<std::size_t, std::size_t> with_prefix(std::string_view prefix) const noexcept {
    const std::size_t begin = lower_bound(prefix);
    return {begin,
            first(begin, size(), [&](std::string_view s) { return s.substr(0, prefix.size()) > prefix; })};
  }

 private:
  // Every so many strings the first bytes of one are kept together: most of a search stays in the cache.
  static constexpr std::size_t stride = 16;

  // The first 8 bytes as a number: of strings in order, these are in order too.
  [[nodiscard]] static std::uint64_t head(std::string_view s) noexcept {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 8; ++i)
      out = out << 8U | (i < s.size() ? static_cast<unsigned char>(s[i]) : 0U);
    return out;
  }

  // The first i with string i >= `wanted`.
  [[nodiscard]] std::size_t lower_bound(std::string_view wanted) const noexcept {
    const auto [below, above] = std::equal_range(heads_.begin(), heads_.end(), head(wanted));
    const auto last_below = static_cast<std::size_t>(below - heads_.begin());
    const auto first_above = static_cast<std::size_t>(above - heads_.begin());
    return first(last_below == 0 ? 0 : (last_below - 1) * stride, std::min(first_above * stride, size()),
                 [&](std::string_view s) { return s >= wanted; });
  }

  // The first i in [low, high) for which `reached` holds, or `high`; it has to stay true once it is.
  template <class Reached>
  [[nodiscard]] std::size_t first(std::size_t low, std::size_t high, const Reached& reached) const noexcept {
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (reached((*this)[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  std::span<const char> bytes_;
  std::span<const std::uint64_t> offsets_;
  std::vector<std::uint64_t> heads_;
};

}  // namespace pincite
