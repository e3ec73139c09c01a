#include <filesystem>
#include <limits>
#include <string>

#include "common.hpp"
#include "pincite/error.hpp"
#include "pincite/hnsw.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

std::filesystem::path hnsw_path(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

HnswPath path_by_name(const std::string& name) {
  if (name == "automatic") return HnswPath::automatic;
  if (name == "graph") return HnswPath::graph;
  if (name == "exact") return HnswPath::exact;
  throw InvalidInputError("path is '" + name + "', wanted automatic, graph or exact");
}

py::tuple search(const HnswIndex& index, const FloatArray& queries, std::size_t k, std::size_t ef,
                 const py::object& allowed, std::size_t threads, bool normalize, const std::string& path) {
  if (queries.ndim() != 2) throw InvalidInputError("queries has to have two axes");
  const std::optional<Bitmap> bitmap = unpack_allowed(allowed, index.vectors().size());
  const auto count = static_cast<std::size_t>(queries.shape(0));
  const auto given_dim = static_cast<std::size_t>(queries.shape(1));
  const HnswPath chosen = path_by_name(path);
  const std::span<const float> values = span_of(queries);
  if (k > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidInputError("k is " + std::to_string(k) +
                            ", wanted at most 4294967295, the most rows an index holds");
  }
  std::vector<std::int64_t> ids;
  std::vector<float> scores;
  std::vector<std::int64_t> counts;
  std::vector<std::uint8_t> exact;
  std::vector<std::int64_t> scored;
  {
    // Pure: reads the queries and the index, which the caller holds, and touches no Python object.
    const py::gil_scoped_release release;
    std::vector<float> checked;
    for (std::size_t q = 0; q < count; ++q) {
      const std::vector<float> query =
          checked_query(values.subspan(q * given_dim, given_dim), index.vectors().dim(), normalize);
      checked.insert(checked.end(), query.begin(), query.end());
    }
    const std::vector<HnswAnswer> answers = index.search(checked, k, ef, pointer_to(bitmap), threads, chosen);
    ids.resize(count * k, -1);
    scores.resize(count * k, -std::numeric_limits<float>::infinity());
    for (std::size_t q = 0; q < count; ++q) {
      const HnswAnswer& answer = answers[q];
      counts.push_back(static_cast<std::int64_t>(answer.hits.size()));
      exact.push_back(answer.exact ? 1 : 0);
      scored.push_back(static_cast<std::int64_t>(answer.scored));
      for (std::size_t i = 0; i < answer.hits.size(); ++i) {
        ids[q * k + i] = answer.hits[i].id;
        scores[q * k + i] = answer.hits[i].score;
      }
    }
  }
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(k)};
  return py::make_tuple(array_from(std::move(ids), shape), array_from(std::move(scores), shape),
                        array_from(std::move(counts)), array_from(std::move(exact)).attr("astype")("bool"),
                        array_from(std::move(scored)));
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
          "load",
          [](const std::string& path, bool verify) {
            const py::gil_scoped_release release;
            return std::make_shared<HnswIndex>(HnswIndex::load(hnsw_path(path), verify));
          },
          arg("path"), py::kw_only(), arg("verify"))
      .def(
          "save",
          [](const HnswIndex& self, const std::string& path) {
            const py::gil_scoped_release release;
            self.save(hnsw_path(path));
          },
          arg("path"))
      .def("search", search, arg("queries").noconvert(), py::kw_only(), arg("k"), arg("ef"), arg("allowed"),
           arg("threads"), arg("normalize"), arg("path"),
           "Queries (q, dim): (ids, scores, counts, exact, rows scored), padded to k columns.")
      .def("graph", graph_of, "(entry, base offsets, base links, upper lists, upper offsets, upper links).")
      .def("__len__", [](const HnswIndex& self) { return self.vectors().size(); })
      .def_property_readonly("dim", [](const HnswIndex& self) { return self.vectors().dim(); })
      .def_property_readonly("m", [](const HnswIndex& self) { return self.m(); })
      .def_property_readonly("repairs", [](const HnswIndex& self) { return self.repairs(); });
}

}  // namespace pincite::bind
