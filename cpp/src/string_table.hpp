// Sorted, distinct strings in one blob: views into a built or a memory-mapped table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace pincite {

class StringTable {
 public:
  StringTable() = default;
  /// String i is bytes[offsets[i], offsets[i + 1]).
  StringTable(std::span<const char> bytes, std::span<const std::uint64_t> offsets)
      : bytes_(bytes), offsets_(offsets) {}

  [[nodiscard]] std::size_t size() const noexcept { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes_.data() + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  [[nodiscard]] std::span<const char> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return offsets_; }

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view wanted) const noexcept {
    const std::size_t i = first(0, [&](std::string_view s) { return s >= wanted; });
    if (i == size() || (*this)[i] != wanted) return std::nullopt;
    return static_cast<std::uint32_t>(i);
  }

  /// The strings that begin with `prefix`, as [first, last).
  [[nodiscard]] std::pair<std::size_t, std::size_t> with_prefix(std::string_view prefix) const noexcept {
    const std::size_t begin = first(0, [&](std::string_view s) { return s >= prefix; });
    return {begin, first(begin, [&](std::string_view s) { return s.substr(0, prefix.size()) > prefix; })};
  }

 private:
  // The first i >= low for which `reached` holds; it has to stay true once it is.
  template <class Reached>
  [[nodiscard]] std::size_t first(std::size_t low, const Reached& reached) const noexcept {
    std::size_t high = size();
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
};

}  // namespace pincite
