#include <string>

// Private headers of the core: the tests compare the Unicode algorithms one by one.
#include "../src/folding.hpp"
#include "../src/unicode.hpp"
#include "../src/words.hpp"
#include "common.hpp"
#include "pincite/text.hpp"
#include "pincite/utf8.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

// Tokens, one column a field; all terms in one string.
struct Columns {
  std::string terms;
  std::vector<std::size_t> term_ends;
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint8_t> prefix;
};

Columns analyze_to_columns(std::string_view text, Analyzer analyzer, AnalysisMode mode) {
  Columns out;
  analyze(text, analyzer, mode, [&out](const Token& token) {
    out.terms += token.term;
    out.term_ends.push_back(out.terms.size());
    out.starts.push_back(token.start);
    out.ends.push_back(token.end);
    out.positions.push_back(token.position);
    out.prefix.push_back(token.prefix ? 1 : 0);
  });
  return out;
}

py::list term_list(const Columns& columns) {
  py::list terms(columns.term_ends.size());
  std::size_t start = 0;
  for (std::size_t i = 0; i < columns.term_ends.size(); ++i) {
    const std::size_t end = columns.term_ends[i];
    terms[i] = py::str(columns.terms.data() + start, end - start);
    start = end;
  }
  return terms;
}

std::vector<std::uint32_t> word_boundaries(std::string_view text) {
  const std::u32string code_points = decode_utf8(text);
  std::vector<std::uint32_t> out = {0};
  for (std::size_t at = 0; at < code_points.size();) {
    at = unicode::next_segment(code_points, at).end;
    out.push_back(static_cast<std::uint32_t>(at));
  }
  return out;
}

py::tuple properties(const py::str& text) {
  std::vector<std::uint8_t> breaks;
  std::vector<std::uint8_t> classes;
  std::vector<std::uint8_t> flags;
  for (const char32_t c : decode_utf8(utf8_view(text, "text"))) {
    const unicode::PropertyRecord& record = unicode::properties(c);
    breaks.push_back(record.word_break);
    classes.push_back(record.combining_class);
    flags.push_back(record.flags);
  }
  return py::make_tuple(array_from(std::move(breaks)), array_from(std::move(classes)),
                        array_from(std::move(flags)));
}

template <class Function>
auto on_code_points(Function function) {
  return
      [function](const py::str& text) { return encode_utf8(function(decode_utf8(utf8_view(text, "text")))); };
}

}  // namespace

void register_text(py::module_& module) {
  module.def(
      "analyze",
      [](const py::object& text, const std::string& analyzer, bool query) {
        const std::string_view view = utf8_view(text, "text");
        const Analyzer parsed = parse_analyzer(analyzer);
        Columns columns;
        {
          // Pure: reads the text's UTF-8, which the caller's str holds, and touches no Python object.
          const py::gil_scoped_release release;
          columns = analyze_to_columns(view, parsed, query ? AnalysisMode::query : AnalysisMode::index);
        }
        py::list terms = term_list(columns);
        return py::make_tuple(std::move(terms), array_from(std::move(columns.starts)),
                              array_from(std::move(columns.ends)), array_from(std::move(columns.positions)),
                              array_from(std::move(columns.prefix)).attr("view")("bool"));
      },
      py::arg("text"), py::kw_only(), py::arg("analyzer"), py::arg("query"),
      "The tokens of a str, as columns: (terms, starts, ends, positions, prefix).");
  module.def(
      "word_boundaries",
      [](const py::str& text) { return array_from(word_boundaries(utf8_view(text, "text"))); },
      py::arg("text"),
      "Where UAX #29 lets a text be cut, in code points, 0 and its length included. For tests.");
  module.def(
      "unicode_properties", &properties, py::arg("text"),
      "(Word_Break, combining class, flags) of every code point, as cpp/src/unicode.hpp numbers them.");
  module.def("normalize_nfkc", on_code_points(unicode::normalize_nfkc), py::arg("text"), "NFKC. For tests.");
  module.def("fold_case", on_code_points(unicode::fold_case), py::arg("text"),
             "Full case folding. For tests.");
  module.def("fold_term", on_code_points([](std::u32string_view word) {
               unicode::TermFolder folder;
               return std::u32string(folder.fold(word));
             }),
             py::arg("text"), "A word as it is matched. For tests.");
}

}  // namespace pincite::bind
