#include <optional>
#include <string>

#include "common.hpp"
#include "hit_columns.hpp"
#include "pincite/bm25_collection.hpp"
#include "pincite/error.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

py::list search(const BM25Collection& self, const py::str& query, std::size_t k,
                const std::vector<py::object>& allowed, bool operators, const Stems& stems, bool exhaustive) {
  const std::string_view text = utf8_view(query, "query");
  std::vector<std::optional<Bitmap>> rows;
  for (std::size_t p = 0; p < std::min(allowed.size(), self.parts().size()); ++p) {
    rows.push_back(
        unpack_allowed(allowed[p], self.parts()[p]->n_rows(), "allowed[" + std::to_string(p) + "]"));
  }
  std::vector<const Bitmap*> filters(allowed.size());
  std::transform(rows.begin(), rows.end(), filters.begin(), [](const auto& row) { return pointer_to(row); });
  std::vector<HitColumns<double>> columns;
  {
    const py::gil_scoped_release release;  // the collection is immutable; `query` outlives the call
    for (const auto& hits : self.search(text, {k, nullptr, operators, &stems, exhaustive}, filters)) {
      columns.push_back(HitColumns<double>::one());
      columns.back().add(hits);
    }
  }
  py::list out;
  for (HitColumns<double>& part : columns) out.append(part.hits());
  return out;
}

}  // namespace

void register_bm25_collection(py::module_& module) {
  py::class_<BM25Collection>(module, "BM25Collection")
      .def(py::init([](const std::vector<std::shared_ptr<BM25View>>& parts) {
             const py::gil_scoped_release release;  // views are immutable
             return std::make_unique<BM25Collection>(
                 std::vector<std::shared_ptr<const BM25View>>(parts.begin(), parts.end()));
           }),
           py::arg("parts"))
      .def("search", &search, py::arg("query"), py::kw_only(), py::arg("k"), py::arg("allowed"),
           py::arg("operators"), py::arg("stems"), py::arg("exhaustive") = false,
           "One (ids, scores) a part, best first.")
      .def(
          "document_frequency",
          [](const BM25Collection& self, const py::str& text, const Stems& stems) {
            const std::string_view view = utf8_view(text, "text");
            const py::gil_scoped_release release;  // the collection is immutable; `text` outlives the call
            return self.document_frequency(view, &stems);
          },
          py::arg("text"), py::kw_only(), py::arg("stems"))
      .def(
          "unknown_words",
          [](const BM25Collection& self, const py::str& query, bool operators) {
            return self.unknown_words(utf8_view(query, "query"), operators);
          },
          py::arg("query"), py::kw_only(), py::arg("operators"))
      .def("__len__", &BM25Collection::visible_count);
}

}  // namespace pincite::bind
