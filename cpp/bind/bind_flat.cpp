#include <string>
#include <tuple>

#include "common.hpp"
#include "hit_columns.hpp"
#include "pincite/error.hpp"
#include "pincite/flat.hpp"
#include "register.hpp"
#include "vector_search.hpp"

namespace pincite::bind {
namespace {

py::tuple search(const FlatIndex& index, const FloatArray& query, std::size_t k, const py::object& allowed,
                 std::size_t threads, bool normalize, float min_score) {
  const std::optional<Bitmap> bitmap = unpack_allowed(allowed, index.vectors().size());
  const std::span<const float> values = span_of(query);
  auto columns = HitColumns<float>::one();
  {
    // Pure: reads the query and the index, which the caller holds, and touches no Python object.
    const py::gil_scoped_release release;
    const auto checked = checked_queries(values, 1, values.size(), index.vectors().dim(), normalize, false);
    columns.add(index.search(checked, k, pointer_to(bitmap), threads, default_kernel(), min_score)[0]);
  }
  auto [ids, scores] = columns.hits();
  return py::make_tuple(std::move(ids), std::move(scores));
}

py::tuple search_batch(const FlatIndex& index, const FloatArray& queries, std::size_t k,
                       const py::object& allowed, std::size_t threads, bool normalize, float min_score) {
  const std::optional<Bitmap> bitmap = unpack_allowed(allowed, index.vectors().size());
  const auto count = static_cast<std::size_t>(queries.shape(0));
  const auto dim = static_cast<std::size_t>(queries.shape(1));
  const std::span<const float> values = span_of(queries);
  auto columns = HitColumns<float>::batch(count, k, index.vectors().size());
  {
    // Pure, as above.
    const py::gil_scoped_release release;
    const auto checked = checked_queries(values, count, dim, index.vectors().dim(), normalize, true);
    for (const auto& hits :
         index.search(checked, k, pointer_to(bitmap), threads, default_kernel(), min_score)) {
      columns.add(hits);
    }
  }
  auto [ids, scores] = columns.hits();
  return py::make_tuple(std::move(ids), std::move(scores), columns.counts());
}

}  // namespace

void register_flat(py::module_& module) {
  using py::arg;
  py::class_<FlatIndex, std::shared_ptr<FlatIndex>>(module, "FlatIndex")
      .def_static(
          "build",
          [](const FloatArray& vectors, bool normalize, const std::string& storage) {
            if (vectors.ndim() != 2) throw InvalidInputError("vectors has to have two axes");
            const std::span<const float> values = span_of(vectors);
            const auto dim = static_cast<std::size_t>(vectors.shape(1));
            const Storage kind = storage_by_name(storage);
            const py::gil_scoped_release release;  // pure: the array is held by the caller
            return std::make_shared<FlatIndex>(FlatIndex::build(Vectors::copy(values, dim, normalize), kind));
          },
          arg("vectors").noconvert(), py::kw_only(), arg("normalize"), arg("storage"))
      .def_static(
          "load",
          [](const std::string& path, bool verify) {
            const py::gil_scoped_release release;
            return std::make_shared<FlatIndex>(FlatIndex::load(path_from(path), verify));
          },
          arg("path"), py::kw_only(), arg("verify"))
      .def(
          "save",
          [](const FlatIndex& self, const std::string& path) {
            const py::gil_scoped_release release;
            self.save(path_from(path));
          },
          arg("path"))
      .def("search", search, arg("query").noconvert(), py::kw_only(), arg("k"), arg("allowed"),
           arg("threads"), arg("normalize"), arg("min_score"), "One query: (ids, scores), best first.")
      .def("search_batch", search_batch, arg("queries").noconvert(), py::kw_only(), arg("k"), arg("allowed"),
           arg("threads"), arg("normalize"), arg("min_score"),
           "Several queries: (ids, scores, counts), padded to k columns.")
      .def("__len__", [](const FlatIndex& self) { return self.vectors().size(); })
      .def_property_readonly("dim", [](const FlatIndex& self) { return self.vectors().dim(); })
      .def_property_readonly("storage",
                             [](const FlatIndex& self) { return std::string(name_of(self.storage())); })
      .def_property_readonly("vectors", rows_view<FlatIndex>);
}

}  // namespace pincite::bind
