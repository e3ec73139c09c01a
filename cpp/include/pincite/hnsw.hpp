// Approximate vector search over a hierarchical navigable small world graph (Malkov and Yashunin, IEEE TPAMI
// 2020, "Efficient and robust approximate nearest neighbor search using HNSW graphs").
//
// hnswlib builds the graph; it is then frozen into the arrays below and searched by our own code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "pincite/bitmap.hpp"
#include "pincite/topk.hpp"
#include "pincite/vectors.hpp"

namespace pincite {

/// The defaults of pgvector.
inline constexpr std::size_t default_m = 16;
inline constexpr std::size_t default_ef_construction = 64;
inline constexpr std::size_t default_ef = 40;

struct HnswOptions {
  std::size_t m = default_m;  ///< links a node gets on each upper level; twice as many on level 0
  std::size_t ef_construction = default_ef_construction;
  std::uint64_t seed = 0;
  std::size_t threads = 1;  ///< 1 is reproducible; more is not
};

/// The frozen graph: node = row. Views into memory that `owner` holds.
struct HnswGraph {
  std::span<const std::uint64_t> base_offsets;   ///< n + 1: where a row's links on level 0 begin
  std::span<const std::uint32_t> base_links;     ///< rows
  std::span<const std::uint32_t> upper_lists;    ///< n + 1: a row's first list above level 0, one a level
  std::span<const std::uint64_t> upper_offsets;  ///< lists + 1: where a list's links begin
  std::span<const std::uint32_t> upper_links;    ///< rows
  std::uint32_t entry = 0;                       ///< a row on the top level
  std::shared_ptr<const void> owner;

  [[nodiscard]] std::size_t size() const noexcept { return base_offsets.size() - 1; }
  [[nodiscard]] std::size_t level(std::size_t row) const noexcept {
    return upper_lists[row + 1] - upper_lists[row];
  }
  [[nodiscard]] std::span<const std::uint32_t> links(std::size_t row, std::size_t on_level) const noexcept {
    if (on_level == 0) return cut(base_links, base_offsets, row);
    return cut(upper_links, upper_offsets, upper_lists[row] + on_level - 1);
  }

 private:
  static std::span<const std::uint32_t> cut(std::span<const std::uint32_t> links,
                                            std::span<const std::uint64_t> offsets,
                                            std::size_t list) noexcept {
    const auto begin = static_cast<std::size_t>(offsets[list]);
    return links.subspan(begin, static_cast<std::size_t>(offsets[list + 1]) - begin);
  }
};

/// Which path answers: `automatic` is what users get, the others are for tests and benchmarks.
enum class HnswPath : std::uint8_t { automatic, graph, exact };

struct HnswAnswer {
  std::vector<Hit<float>> hits;  ///< best first
  bool exact = false;            ///< every allowed row was scored
  std::size_t scored = 0;        ///< rows scored on the way
};

class HnswIndex {
 public:
  /// Throws InvalidInputError when m is not in 2..128, ef_construction not in 1..65536 or threads is 0.
  [[nodiscard]] static HnswIndex build(std::shared_ptr<const Vectors> vectors, const HnswOptions& options);

  /// Maps a saved file; checks its structure, and with `verify` its checksums.
  [[nodiscard]] static HnswIndex load(const std::filesystem::path& path, bool verify = true);
  void save(const std::filesystem::path& path) const;

  /// The same for a file that holds the graph alone: its rows are `vectors`, which another file holds.
  [[nodiscard]] static HnswIndex load_graph(const std::filesystem::path& path,
                                            std::shared_ptr<const Vectors> vectors, bool verify = true);
  void save_graph(const std::filesystem::path& path) const;

  /// Answers the checked queries (row after row) on up to `threads` threads. `allowed` speaks about all rows.
  /// An answer has min(k, allowed rows) hits. Throws InvalidInputError when k, ef or threads is 0.
  [[nodiscard]] std::vector<HnswAnswer> search(std::span<const float> queries, std::size_t k, std::size_t ef,
                                               const Bitmap* allowed = nullptr, std::size_t threads = 1,
                                               HnswPath path = HnswPath::automatic) const;

  [[nodiscard]] const Vectors& vectors() const noexcept { return *vectors_; }
  [[nodiscard]] const HnswGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] std::size_t m() const noexcept { return m_; }
  /// Links added so that every row finds itself (see hnsw_repair.cpp).
  [[nodiscard]] std::size_t repairs() const noexcept { return repairs_; }

 private:
  HnswIndex() = default;
  void write(const std::filesystem::path& path, bool with_vectors) const;
  // `shared`: the vectors of a file that holds none; nullptr where it holds them.
  [[nodiscard]] static HnswIndex read(const std::filesystem::path& path,
                                      std::shared_ptr<const Vectors> shared, bool verify);

  std::shared_ptr<const Vectors> vectors_;
  HnswGraph graph_;
  std::size_t m_ = default_m;
  std::size_t ef_construction_ = default_ef_construction;
  std::size_t repairs_ = 0;
};

}  // namespace pincite
