#include "common.hpp"
#include "pincite/error.hpp"
#include "pincite/structural.hpp"
#include "pincite/utf8.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

/// A flat view of an (n, columns) array.
std::span<const std::int64_t> table_of(const IdArray& array, py::ssize_t columns, const std::string& name) {
  if (array.ndim() != 2 || array.shape(1) != columns) {
    throw InvalidInputError(name + " has " + std::to_string(array.size()) + " values, wanted rows of " +
                            std::to_string(columns));
  }
  return span_of(array);
}

}  // namespace

void register_structural(py::module_& module) {
  module.def(
      "pack_structural",
      [](const py::str& text, const IdArray& sections, const IdArray& cuts, const IdArray& prose,
         const IdArray& atoms, std::int64_t target, std::int64_t overlap, const IdArray& piece_ends,
         const IdArray& budgets) {
        const std::string_view view = utf8_view(text, "text");
        const auto cut_rows = table_of(cuts, 2, "cuts");
        const auto prose_rows = table_of(prose, 2, "prose");
        const auto atom_rows = table_of(atoms, 3, "atoms");
        const StructuralLimits limits{target, overlap, span_of(piece_ends), span_of(budgets)};
        const auto bounds = span_of(sections);
        std::vector<std::int64_t> rows;
        {
          // Pure: reads the arrays and the text, which the caller holds, and touches no Python object.
          const py::gil_scoped_release release;
          std::vector<Cut> cut_list;
          for (std::size_t i = 0; i < cut_rows.size(); i += 2) {
            if (cut_rows[i + 1] < 0 || cut_rows[i + 1] > 2) {
              throw InvalidInputError("rank of a cut is " + std::to_string(cut_rows[i + 1]) +
                                      ", wanted 0, 1 or 2");
            }
            cut_list.push_back({cut_rows[i], static_cast<CutRank>(cut_rows[i + 1])});
          }
          std::vector<TextSpan> prose_list;
          for (std::size_t i = 0; i < prose_rows.size(); i += 2)
            prose_list.push_back({prose_rows[i], prose_rows[i + 1]});
          std::vector<Atom> atom_list;
          for (std::size_t i = 0; i < atom_rows.size(); i += 3) {
            atom_list.push_back({atom_rows[i], atom_rows[i + 1], atom_rows[i + 2]});
          }
          const StructuralLayout layout{bounds, cut_list, prose_list, atom_list};
          for (const StructuralSpan& span : pack_structural(decode_utf8(view), layout, limits)) {
            rows.insert(rows.end(), {span.start, span.end, span.covered_start, span.section, span.context});
          }
        }
        const auto count = static_cast<py::ssize_t>(rows.size() / 5);
        return array_from(std::move(rows), {count, 5});
      },
      py::arg("text"), py::kw_only(), py::arg("sections").noconvert(), py::arg("cuts").noconvert(),
      py::arg("prose").noconvert(), py::arg("atoms").noconvert(), py::arg("target"), py::arg("overlap"),
      py::arg("piece_ends").noconvert(), py::arg("budgets").noconvert(),
      "Packs a document's sections: (n, 5) rows of start, end, covered start, section and context atom (or "
      "-1).");
  module.def(
      "sentence_ends",
      [](const py::str& text) {
        const std::string_view view = utf8_view(text, "text");
        std::vector<std::int64_t> ends;
        {
          // Pure: reads the text, which the caller holds, and touches no Python object.
          const py::gil_scoped_release release;
          ends = sentence_ends(decode_utf8(view));
        }
        return array_from(std::move(ends));
      },
      py::arg("text"), "Ends of the sentences of a text, in code points, as int64.");
}

}  // namespace pincite::bind
