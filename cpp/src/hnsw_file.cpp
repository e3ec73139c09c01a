// The sections of an "hnsw" file: meta, vectors and the five arrays of the graph; an "hnsw-graph" file has no
// vectors. The checksums say that a file is what was written, not who wrote it, so every number that is used
// as an index is checked as well.
#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "pincite/envelope.hpp"
#include "pincite/error.hpp"
#include "pincite/hnsw.hpp"

namespace pincite {
namespace {

struct Meta {
  std::uint64_t size;
  std::uint64_t dim;
  std::uint32_t m;
  std::uint32_t ef_construction;
  std::uint32_t entry;
  std::uint32_t repairs;
};
static_assert(sizeof(Meta) == 32 && std::is_trivially_copyable_v<Meta>);

// Offsets that begin at 0, never fall and end at `total`.
template <class T>
void check_offsets(const Envelope& envelope, std::string_view name, std::span<const T> offsets,
                   std::size_t total) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != total ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    envelope.refuse("section '" + std::string(name) + "' does not cut up its " + std::to_string(total) +
                    " entries");
  }
}

void check_links(const Envelope& envelope, const HnswGraph& graph, std::size_t top) {
  const std::size_t n = graph.size();
  for (const std::uint32_t row : graph.base_links) {
    if (row >= n) envelope.refuse("a link leads to row " + std::to_string(row) + " of " + std::to_string(n));
  }
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t levels = graph.level(row);
    if (levels > top) envelope.refuse("row " + std::to_string(row) + " is above the entry point");
    for (std::size_t level = 1; level <= levels; ++level) {
      for (const std::uint32_t to : graph.links(row, level)) {
        if (to >= n || graph.level(to) < level) {
          envelope.refuse("a link of level " + std::to_string(level) + " leads to row " + std::to_string(to) +
                          ", which is not there");
        }
      }
    }
  }
}

}  // namespace

void HnswIndex::save(const std::filesystem::path& path) const { write(path, true); }
void HnswIndex::save_graph(const std::filesystem::path& path) const { write(path, false); }

HnswIndex HnswIndex::load(const std::filesystem::path& path, bool verify) {
  return read(path, nullptr, verify);
}
HnswIndex HnswIndex::load_graph(const std::filesystem::path& path, std::shared_ptr<const Vectors> vectors,
                                bool verify) {
  return read(path, std::move(vectors), verify);
}

void HnswIndex::write(const std::filesystem::path& path, bool with_vectors) const {
  const Meta meta{vectors_->size(),
                  vectors_->dim(),
                  static_cast<std::uint32_t>(m_),
                  static_cast<std::uint32_t>(ef_construction_),
                  graph_.entry,
                  static_cast<std::uint32_t>(repairs_)};
  EnvelopeWriter writer(with_vectors ? "hnsw" : "hnsw-graph");
  writer.add("meta", std::span(&meta, 1));
  if (with_vectors) writer.add("vectors", vectors_->values());
  writer.add("base_offsets", graph_.base_offsets);
  writer.add("base_links", graph_.base_links);
  writer.add("upper_lists", graph_.upper_lists);
  writer.add("upper_offsets", graph_.upper_offsets);
  writer.add("upper_links", graph_.upper_links);
  writer.write(path);
}

HnswIndex HnswIndex::read(const std::filesystem::path& path, std::shared_ptr<const Vectors> shared,
                          bool verify) {
  const std::shared_ptr<const Envelope> envelope =
      Envelope::open(path, shared == nullptr ? "hnsw" : "hnsw-graph", verify);
  const auto meta = envelope->value<Meta>("meta");
  if (meta.size > 0xFFFFFFFFU || meta.dim == 0 || meta.dim > 0xFFFFFFFFU || meta.m < 2 || meta.m > 128 ||
      (meta.size == 0 ? meta.entry != 0 : meta.entry >= meta.size)) {
    envelope->refuse("it claims " + std::to_string(meta.size) + " vectors of " + std::to_string(meta.dim) +
                     " dimensions, m = " + std::to_string(meta.m) + " and the entry point " +
                     std::to_string(meta.entry));
  }
  if (shared == nullptr) {
    shared = Vectors::view(envelope->values<float>("vectors", meta.size * meta.dim),
                           static_cast<std::size_t>(meta.dim), envelope);
  } else if (meta.size != shared->size() || meta.dim != shared->dim()) {
    envelope->refuse("its graph is over " + std::to_string(meta.size) + " vectors of " +
                     std::to_string(meta.dim) + " dimensions, given were " + std::to_string(shared->size()) +
                     " of " + std::to_string(shared->dim()));
  }
  HnswIndex out;
  out.vectors_ = std::move(shared);
  out.m_ = meta.m;
  out.ef_construction_ = meta.ef_construction;
  out.repairs_ = meta.repairs;
  HnswGraph& graph = out.graph_;
  graph.base_offsets = envelope->values<std::uint64_t>("base_offsets", meta.size + 1);
  graph.base_links = envelope->values<std::uint32_t>("base_links");
  graph.upper_lists = envelope->values<std::uint32_t>("upper_lists", meta.size + 1);
  graph.upper_offsets = envelope->values<std::uint64_t>("upper_offsets");
  graph.upper_links = envelope->values<std::uint32_t>("upper_links");
  graph.entry = meta.entry;
  graph.owner = envelope;
  check_offsets(*envelope, "base_offsets", graph.base_offsets, graph.base_links.size());
  check_offsets(*envelope, "upper_offsets", graph.upper_offsets, graph.upper_links.size());
  check_offsets(*envelope, "upper_lists", graph.upper_lists, graph.upper_offsets.size() - 1);
  check_links(*envelope, graph, meta.size == 0 ? 0 : graph.level(meta.entry));
  return out;
}

}  // namespace pincite
