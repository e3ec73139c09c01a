#include <filesystem>
#include <limits>
#include <string>

#include "common.hpp"
#include "hit_columns.hpp"
#include "pincite/bm25.hpp"
#include "pincite/error.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

BM25Params params_from(const std::string& analyzer, double k1, double b,
                       const std::vector<std::pair<std::string, double>>& fields,
                       const std::string& stemmer) {
  BM25Params params{parse_analyzer(analyzer), k1, b, {}, stemmer};
  for (const auto& [name, boost] : fields) params.fields.push_back({name, boost});
  check_params(params);
  return params;
}

std::vector<std::pair<std::string, double>> fields_of(const BM25Index& index) {
  std::vector<std::pair<std::string, double>> out;
  for (const BM25Field& field : index.params().fields) out.emplace_back(field.name, field.boost);
  return out;
}

// Adds documents given as one sequence of texts a field; the first of them has the number `first` in errors.
void add_columns(BM25Builder& builder, const std::vector<py::iterable>& columns, std::size_t first) {
  std::vector<Texts> texts;
  for (const py::iterable& column : columns) texts.emplace_back(column, first);
  const std::size_t n_docs = texts.empty() ? 0 : texts[0].views().size();
  for (const Texts& column : texts) {
    if (column.views().size() != n_docs) {
      throw InvalidInputError("one field has " + std::to_string(n_docs) + " texts, another " +
                              std::to_string(column.views().size()) + "; give one text a document in each");
    }
  }
  const py::gil_scoped_release release;  // `texts` holds the strings; only this call has the builder
  std::vector<std::string_view> document(texts.size());
  for (std::size_t i = 0; i < n_docs; ++i) {
    for (std::size_t field = 0; field < texts.size(); ++field) document[field] = texts[field].views()[i];
    builder.add(document);
  }
}

using Scores = py::array_t<double>;

std::pair<IdArray, Scores> search(const BM25View& view, const py::str& query, std::size_t k,
                                  const py::object& allowed, bool operators, const Stems& stems,
                                  bool exhaustive) {
  const std::string_view text = utf8_view(query, "query");
  const std::optional<Bitmap> rows = unpack_allowed(allowed, view.n_rows());
  auto columns = HitColumns<double>::one();
  {
    const py::gil_scoped_release release;  // the view is immutable; `query` outlives the call
    columns.add(view.search(text, {k, pointer_to(rows), operators, &stems, exhaustive}));
  }
  return columns.hits();
}

std::tuple<IdArray, Scores, IdArray> search_batch(const BM25View& view, const py::iterable& queries,
                                                  std::size_t k, const py::object& allowed, bool operators,
                                                  const Stems& stems, std::size_t threads) {
  const Texts texts(queries);
  const std::size_t n = texts.views().size();
  const std::optional<Bitmap> rows = unpack_allowed(allowed, view.n_rows());
  auto columns = HitColumns<double>::batch(n, k, view.n_rows());
  {
    const py::gil_scoped_release release;  // the view is immutable; `texts` holds the strings
    for (const auto& hits :
         view.search_batch(texts.views(), {k, pointer_to(rows), operators, &stems}, threads)) {
      columns.add(hits);
    }
  }
  auto [ids, scores] = columns.hits();
  return {std::move(ids), std::move(scores), columns.counts()};
}

py::list explain(const BM25View& view, const py::str& query, std::size_t id, bool operators,
                 const Stems& stems) {
  const std::string_view text = utf8_view(query, "query");
  std::vector<BM25Contribution> terms;
  {
    const py::gil_scoped_release release;  // the view is immutable; `query` outlives the call
    terms = view.explain(text, id, {.k = 1, .operators = operators, .stems = &stems});
  }
  py::list out;
  for (const BM25Contribution& t : terms) {
    out.append(py::make_tuple(t.term, t.count, t.tf, t.df, t.idf, t.score, t.positions));
  }
  return out;
}

}  // namespace

void register_bm25(py::module_& module) {
  py::class_<BM25Builder>(module, "BM25Builder")
      .def(py::init([](const std::string& analyzer, std::size_t n_fields) {
             return std::make_unique<BM25Builder>(parse_analyzer(analyzer), n_fields);
           }),
           py::kw_only(), py::arg("analyzer"), py::arg("n_fields"))
      .def("add", &add_columns, py::arg("columns"), py::kw_only(), py::arg("first"))
      .def("words", &BM25Builder::words)
      .def(
          "finish",
          [](BM25Builder& builder, const std::string& analyzer, double k1, double b,
             const std::vector<std::pair<std::string, double>>& fields, const std::string& stemmer,
             const py::iterable& stems) {
            BM25Params params = params_from(analyzer, k1, b, fields, stemmer);
            const Texts texts(stems);
            const py::gil_scoped_release
                release;  // `texts` holds the strings; only this call has the builder
            return builder.finish(std::move(params), texts.views());
          },
          py::kw_only(), py::arg("analyzer"), py::arg("k1"), py::arg("b"), py::arg("fields"),
          py::arg("stemmer"), py::arg("stems"));

  py::class_<BM25View, std::shared_ptr<BM25View>>(module, "BM25View")
      .def("search", &search, py::arg("query"), py::kw_only(), py::arg("k"), py::arg("allowed"),
           py::arg("operators"), py::arg("stems"), py::arg("exhaustive") = false)
      .def("search_batch", &search_batch, py::arg("queries"), py::kw_only(), py::arg("k"), py::arg("allowed"),
           py::arg("operators"), py::arg("stems"), py::arg("threads"))
      .def("explain", &explain, py::arg("query"), py::arg("id"), py::kw_only(), py::arg("operators"),
           py::arg("stems"))
      .def("__len__", &BM25View::visible_count);

  py::class_<BM25Index>(module, "BM25Index")
      .def_static(
          "load",
          [](const std::string& path, bool verify) {
            const std::filesystem::path source = path_from(path);
            const py::gil_scoped_release release;
            return BM25Index::load(source, verify);
          },
          py::arg("path"), py::kw_only(), py::arg("verify"))
      .def(
          "save",
          [](const BM25Index& index, const std::string& path) {
            const std::filesystem::path target = path_from(path);
            const py::gil_scoped_release release;  // the index is immutable
            index.save(target);
          },
          py::arg("path"))
      .def(
          "view",
          [](const BM25Index& index, const py::object& visible) {
            std::optional<Bitmap> rows = unpack_allowed(visible, index.size(), "visible");
            const py::gil_scoped_release release;  // the index is immutable
            return std::const_pointer_cast<BM25View>(index.view(std::move(rows)));
          },
          py::kw_only(), py::arg("visible"))
      .def(
          "unknown_words",
          [](const BM25Index& index, const py::str& query, bool operators) {
            return index.unknown_words(utf8_view(query, "query"), operators);
          },
          py::arg("query"), py::kw_only(), py::arg("operators"))
      .def("__len__", &BM25Index::size)
      .def_property_readonly("n_terms", &BM25Index::n_terms)
      .def_property_readonly("analyzer",
                             [](const BM25Index& i) { return analyzer_name(i.params().analyzer); })
      .def_property_readonly("k1", [](const BM25Index& i) { return i.params().k1; })
      .def_property_readonly("b", [](const BM25Index& i) { return i.params().b; })
      .def_property_readonly("stemmer", [](const BM25Index& i) { return i.params().stemmer; })
      .def_property_readonly("fields", &fields_of);

  module.def(
      "check_bm25_params",
      [](const std::string& analyzer, double k1, double b,
         const std::vector<std::pair<std::string, double>>& fields) {
        (void)params_from(analyzer, k1, b, fields, "");
      },
      py::kw_only(), py::arg("analyzer"), py::arg("k1"), py::arg("b"), py::arg("fields"));
  module.def(
      "bm25_highlights",
      [](const py::str& text, const py::str& query, const std::string& analyzer, bool operators,
         const std::optional<Stems>& stems) {
        const std::string_view text_view = utf8_view(text, "text");
        const std::string_view query_view = utf8_view(query, "query");
        const Analyzer chosen = parse_analyzer(analyzer);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
        const py::gil_scoped_release release;  // `text` and `query` outlive the call
        for (const Span& span : highlights(text_view, query_view, chosen, operators, pointer_to(stems))) {
          out.emplace_back(span.start, span.end);
        }
        return out;
      },
      py::arg("text"), py::arg("query"), py::kw_only(), py::arg("analyzer"), py::arg("operators"),
      py::arg("stems"));
  module.def(
      "bm25_words",
      [](const py::str& text, const py::str& query, const std::string& analyzer, bool operators) {
        return words_of(utf8_view(text, "text"), utf8_view(query, "query"), parse_analyzer(analyzer),
                        operators);
      },
      py::arg("text"), py::arg("query"), py::kw_only(), py::arg("analyzer"), py::arg("operators"));
}

}  // namespace pincite::bind
