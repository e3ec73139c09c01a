#include <string>

#include "common.hpp"
#include "hit_columns.hpp"
#include "pincite/error.hpp"
#include "pincite/flat.hpp"
#include "pincite/hnsw.hpp"
#include "register.hpp"
#include "vector_search.hpp"

namespace pincite::bind {
namespace {

HnswPath path_by_name(const std::string& name) {
  if (name == "automatic") return HnswPath::automatic;
  if (name == "graph") return HnswPath::graph;
  if (name == "exact") return HnswPath::exact;
  throw InvalidInputError("path is '" + name + "', wanted automatic, graph or exact");
}

py::tuple search(const HnswIndex& index, const FloatArray& query, std::size_t k, std::size_t ef,
                 const py::object& allowed, bool normalize) {
  const std::optional<Bitmap> bitmap = unpack_allowed(allowed, index.vectors().size());
  const std::span<const float> values = span_of(query);
  auto columns = HitColumns<float>::one();
  {
    // Pure: reads the query and the index, which the caller holds, and touches no Python object.
    const py::gil_scoped_release release;
    const auto checked = checked_queries(values, 1, values.size(), index.vectors().dim(), normalize, false);
    columns.add(index.search(checked, k, ef, pointer_to(bitmap))[0].hits);
  }
  auto [ids, scores] = columns.hits();
  return py::make_tuple(std::move(ids), std::move(scores));
}

py::tuple search_batch(const HnswIndex& index, const FloatArray& queries, std::size_t k, std::size_t ef,
                       const py::object& allowed, std::size_t threads, bool normalize,
                       const std::string& path) {
  const std::optional<Bitmap> bitmap = unpack_allowed(allowed, index.vectors().size());
  const auto count = static_cast<std::size_t>(queries.shape(0));
  const auto dim = static_cast<std::size_t>(queries.shape(1));
  const HnswPath chosen = path_by_name(path);
  const std::span<const float> values = span_of(queries);
  auto columns = HitColumns<float>::batch(count, k, index.vectors().size());
  py::array_t<bool> exact(queries.shape(0));
  py::array_t<std::int64_t> scored(queries.shape(0));
  bool* const is_exact = exact.mutable_data();
  std::int64_t* const n_scored = scored.mutable_data();
  {
    // Pure, as above; the two arrays are ours alone.
    const py::gil_scoped_release release;
    const auto checked = checked_queries(values, count, dim, index.vectors().dim(), normalize, true);
    const std::vector<HnswAnswer> answers = index.search(checked, k, ef, pointer_to(bitmap), threads, chosen);
    for (std::size_t q = 0; q < count; ++q) {
      columns.add(answers[q].hits);
      is_exact[q] = answers[q].exact;
      n_scored[q] = static_cast<std::int64_t>(answers[q].scored);
    }
  }
  auto [ids, scores] = columns.hits();
  return py::make_tuple(std::move(ids), std::move(scores), columns.counts(), std::move(exact),
                        std::move(scored));
}

template <class T>
py::array_t<T> copy_of(std::span<const T> values) {
  return array_from(std::vector<T>(values.begin(), values.end()));
}

// For the tests' twin: entry, base offsets and links, first upper lists, upper offsets and links.
py::tuple graph_of(const HnswIndex& index) {
  const HnswGraph& graph = index.graph();
  return py::make_tuple(graph.entry, copy_of(graph.base_offsets), copy_of(graph.base_links),
                        copy_of(graph.upper_lists), copy_of(graph.upper_offsets), copy_of(graph.upper_links));
}

}  // namespace

void register_hnsw(py::module_& module) {
  using py::arg;
  py::class_<HnswIndex, std::shared_ptr<HnswIndex>>(module, "HnswIndex")
      .def_static(
          "build",
          [](const FloatArray& vectors, std::size_t m, std::size_t ef_construction, std::uint64_t seed,
             std::size_t threads, bool normalize) {
            if (vectors.ndim() != 2) throw InvalidInputError("vectors has to have two axes");
            const std::span<const float> values = span_of(vectors);
            const auto dim = static_cast<std::size_t>(vectors.shape(1));
            const py::gil_scoped_release release;  // pure: the array is held by the caller
            return std::make_shared<HnswIndex>(
                HnswIndex::build(Vectors::copy(values, dim, normalize), {m, ef_construction, seed, threads}));
          },
          arg("vectors").noconvert(), py::kw_only(), arg("m"), arg("ef_construction"), arg("seed"),
          arg("threads"), arg("normalize"))
      .def_static(
          "over",
          [](const FlatIndex& flat, std::size_t m, std::size_t ef_construction, std::uint64_t seed,
             std::size_t threads) {
            const py::gil_scoped_release release;  // pure: shares the rows, which never change
            return std::make_shared<HnswIndex>(
                HnswIndex::build(flat.shared_vectors(), {m, ef_construction, seed, threads}));
          },
          arg("flat"), py::kw_only(), arg("m"), arg("ef_construction"), arg("seed"), arg("threads"))
      .def_static(
          "load",
          [](const std::string& path, bool verify) {
            const py::gil_scoped_release release;
            return std::make_shared<HnswIndex>(HnswIndex::load(path_from(path), verify));
          },
          arg("path"), py::kw_only(), arg("verify"))
      .def(
          "save",
          [](const HnswIndex& self, const std::string& path) {
            const py::gil_scoped_release release;
            self.save(path_from(path));
          },
          arg("path"))
      .def_static(
          "load_graph",
          [](const std::string& path, const FlatIndex& flat, bool verify) {
            const py::gil_scoped_release release;
            return std::make_shared<HnswIndex>(
                HnswIndex::load_graph(path_from(path), flat.shared_vectors(), verify));
          },
          arg("path"), arg("flat"), py::kw_only(), arg("verify"))
      .def(
          "save_graph",
          [](const HnswIndex& self, const std::string& path) {
            const py::gil_scoped_release release;
            self.save_graph(path_from(path));
          },
          arg("path"))
      .def("search", search, arg("query").noconvert(), py::kw_only(), arg("k"), arg("ef"), arg("allowed"),
           arg("normalize"), "One query: (ids, scores), best first.")
      .def("search_batch", search_batch, arg("queries").noconvert(), py::kw_only(), arg("k"), arg("ef"),
           arg("allowed"), arg("threads"), arg("normalize"), arg("path"),
           "Queries (q, dim): (ids, scores, counts, exact, rows scored), padded to k columns.")
      .def("graph", graph_of, "(entry, base offsets, base links, upper lists, upper offsets, upper links).")
      .def("__len__", [](const HnswIndex& self) { return self.vectors().size(); })
      .def_property_readonly("dim", [](const HnswIndex& self) { return self.vectors().dim(); })
      .def_property_readonly("vectors", rows_view<HnswIndex>)
      .def_property_readonly("m", [](const HnswIndex& self) { return self.m(); })
      .def_property_readonly("repairs", [](const HnswIndex& self) { return self.repairs(); });
}

}  // namespace pincite::bind
