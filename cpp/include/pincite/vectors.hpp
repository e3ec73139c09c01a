// Unit vectors, row after row: owned, or views into a memory-mapped file. Shared by `flat` and `hnsw`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pincite {

/// A row's norm may differ from 1 by this much (DESIGN.md section 3). float32 rounding of 1,024 components
/// stays below 1e-6; a vector that misses by more than 1e-3 was not normalised.
inline constexpr double norm_tolerance = 1e-3;

class Vectors {
 public:
  /// Copies `rows` x `dim` floats. Throws InvalidInputError naming the first row that holds NaN or an
  /// infinity, is all zeros, or has a norm off by more than `norm_tolerance`; with `normalize`, rows are
  /// scaled to norm 1 instead, and only zero and non-finite rows are refused.
  [[nodiscard]] static std::shared_ptr<const Vectors> copy(std::span<const float> values, std::size_t dim,
                                                           bool normalize);

  /// A view of `values` that keeps `owner` alive (a memory map). The values are not looked at.
  [[nodiscard]] static std::shared_ptr<const Vectors> view(std::span<const float> values, std::size_t dim,
                                                           std::shared_ptr<const void> owner);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t dim() const noexcept { return dim_; }
  [[nodiscard]] const float* row(std::size_t i) const noexcept { return data_ + i * dim_; }
  [[nodiscard]] std::span<const float> values() const noexcept { return {data_, size_ * dim_}; }

 private:
  Vectors() = default;
  const float* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t dim_ = 0;
  std::shared_ptr<const void> owner_;  // of the values
};

/// Checks a query and returns it with norm 1 (to double precision of its float32 components): throws
/// InvalidInputError on a dimension other than `dim`, on NaN, infinities and zeros, and, unless `normalize`,
/// on a norm off by more than `norm_tolerance`. A query within the tolerance is used as it is.
/// `who` begins the error's text: a batch names the query by its number.
[[nodiscard]] std::vector<float> checked_query(std::span<const float> query, std::size_t dim, bool normalize,
                                               const std::string& who = "query");

}  // namespace pincite
