// Exact search: every row is scored, and the k best are kept.
//
// The rows may have a second, smaller copy (binary16 or int8) that is scanned in their place. For each row it
// gives an upper bound of the float32 score, and a row whose bound could reach the k best so far is scored
// again from its float32 values. So the copy changes how fast an answer comes, never the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pincite/bitmap.hpp"
#include "pincite/half.hpp"
#include "pincite/kernels.hpp"
#include "pincite/topk.hpp"
#include "pincite/vectors.hpp"

namespace pincite {

enum class Storage : std::uint32_t { float32 = 0, float16 = 1, int8 = 2 };

/// "float32", "float16" or "int8". Throws InvalidInputError on any other name.
[[nodiscard]] Storage storage_by_name(std::string_view name);
[[nodiscard]] std::string_view name_of(Storage storage) noexcept;

class FlatIndex {
 public:
  using Hits = std::vector<Hit<float>>;
  static constexpr float no_min_score = -std::numeric_limits<float>::infinity();

  /// Shares `vectors` and, unless `storage` is float32, makes the smaller copy.
  [[nodiscard]] static FlatIndex build(std::shared_ptr<const Vectors> vectors, Storage storage);

  /// The file is memory-mapped. Throws as Envelope::open does, and IndexCorruptError when the sections do not
  /// fit together.
  [[nodiscard]] static FlatIndex load(const std::filesystem::path& path, bool verify = true);
  void save(const std::filesystem::path& path) const;

  /// The `k` best of the rows in `allowed` (all: nullptr) that score at least `min_score`, best first, for
  /// each of `queries` (row after row, each of norm 1). One query is spread over `threads` by rows, several
  /// by queries; the hits do not depend on it. Throws InvalidInputError when `threads` is 0, and
  /// IndexCorruptError when a score is not finite, which only a forged file can bring about.
  [[nodiscard]] std::vector<Hits> search(std::span<const float> queries, std::size_t k,
                                         const Bitmap* allowed = nullptr, std::size_t threads = 1,
                                         const Kernel& kernel = default_kernel(),
                                         float min_score = no_min_score) const;

  [[nodiscard]] const Vectors& vectors() const noexcept { return *vectors_; }
  [[nodiscard]] std::shared_ptr<const Vectors> shared_vectors() const noexcept { return vectors_; }
  [[nodiscard]] Storage storage() const noexcept { return storage_; }

 private:
  // Views into `owner`: what build() made, or the memory map.
  struct Copy {
    std::span<const Half> halves;
    std::span<const std::int8_t> codes;  // times the row's scale
    std::span<const float> scales;       // int8 only
    std::span<const float> residuals;    // ||row - its copy||, rounded up
    std::shared_ptr<const void> owner;
  };
  struct Query;
  class Scan;

  FlatIndex() = default;
  [[nodiscard]] Query prepared(std::span<const float> query) const;

  std::shared_ptr<const Vectors> vectors_;
  Storage storage_ = Storage::float32;
  Copy copy_;
};

}  // namespace pincite
