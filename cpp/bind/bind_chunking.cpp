#include "common.hpp"
#include "pincite/chunking.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

using SpanArray = py::array_t<std::uint32_t>;
using Chunker = Chunks (*)(std::string_view, std::size_t, std::size_t);

std::pair<SpanArray, SpanArray> spans_of(Chunker chunk, const py::object& text, std::size_t target,
                                         std::size_t overlap) {
  const std::string_view view = utf8_view(text, "text");
  std::vector<std::uint32_t> spans;
  std::vector<std::uint32_t> titles;
  {
    // Pure: reads the UTF-8 of a str that the caller holds, and touches no Python object.
    const py::gil_scoped_release release;
    const Chunks chunks = chunk(view, target, overlap);
    spans.reserve(chunks.spans.size() * 4);
    for (const ChunkSpan& s : chunks.spans)
      spans.insert(spans.end(), {s.start, s.end, s.covered_start, s.section});
    titles.reserve(chunks.sections.size() * 2);
    for (const SectionTitle& t : chunks.sections) titles.insert(titles.end(), {t.start, t.end});
  }
  const auto n_spans = static_cast<py::ssize_t>(spans.size() / 4);
  const auto n_titles = static_cast<py::ssize_t>(titles.size() / 2);
  return {array_from(std::move(spans), {n_spans, 4}), array_from(std::move(titles), {n_titles, 2})};
}

}  // namespace

void register_chunking(py::module_& module) {
  module.def(
      "chunk_blind",
      [](const py::object& text, std::size_t target, std::size_t overlap) {
        return spans_of(chunk_blind, text, target, overlap);
      },
      py::arg("text"), py::kw_only(), py::arg("target"), py::arg("overlap"),
      "Blind cuts: rows of (start, end, covered_start, 0), and no titles.");
  module.def(
      "chunk_sections",
      [](const py::object& text, std::size_t target, std::size_t overlap) {
        return spans_of(chunk_sections, text, target, overlap);
      },
      py::arg("text"), py::kw_only(), py::arg("target"), py::arg("overlap"),
      "Packed paragraphs: rows of (start, end, covered_start, section), and rows of (start, end) of the "
      "titles.");
}

}  // namespace pincite::bind
