// The envelope as Python sees it: sections go in and come out as raw bytes, out without a copy.
#include <array>
#include <string>

#include "common.hpp"
#include "pincite/envelope.hpp"
#include "pincite/error.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

Stamp stamp_from(const py::bytes& bytes) {
  const std::string_view view = bytes;
  Stamp stamp{};
  if (view.size() != stamp.size()) {
    throw InvalidInputError("the stamp has " + std::to_string(view.size()) + " bytes, wanted 32");
  }
  std::memcpy(stamp.data(), view.data(), stamp.size());
  return stamp;
}

// A read-only view of a section; the array's base keeps the mapping alive.
Bytes section(const py::object& self, const std::string& name, std::size_t unit) {
  const std::span<const std::byte> bytes = self.cast<const Envelope&>().bytes(name, unit);
  Bytes view(static_cast<py::ssize_t>(bytes.size()), reinterpret_cast<const std::uint8_t*>(bytes.data()),
             self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace

void register_envelope(py::module_& module) {
  module.def(
      "write_envelope",
      [](const std::string& path, const std::string& kind,
         const std::vector<std::pair<std::string, Bytes>>& sections, const py::bytes& stamp) {
        EnvelopeWriter writer(kind, stamp_from(stamp));
        for (const auto& [name, bytes] : sections) writer.add(name, span_of(bytes));
        const std::filesystem::path target = path_from(path);
        const py::gil_scoped_release release;  // `sections` holds the arrays
        writer.write(target);
      },
      py::arg("path"), py::kw_only(), py::arg("kind"), py::arg("sections"), py::arg("stamp"),
      "Writes a file of named sections, whole or not at all.");

  // Held without const, which pybind11 cannot do; nothing of it is bound that could change it.
  py::class_<Envelope, std::shared_ptr<Envelope>>(module, "Envelope")
      .def_static(
          "open",
          [](const std::string& path, const std::string& kind, bool verify) {
            const std::filesystem::path source = path_from(path);
            const py::gil_scoped_release release;
            return std::const_pointer_cast<Envelope>(Envelope::open(source, kind, verify));
          },
          py::arg("path"), py::kw_only(), py::arg("kind"), py::arg("verify"))
      .def_property_readonly("stamp",
                             [](const Envelope& self) {
                               return py::bytes(reinterpret_cast<const char*>(self.stamp().data()),
                                                self.stamp().size());
                             })
      .def("names", &Envelope::names)
      .def("section", &section, py::arg("name"), py::kw_only(), py::arg("unit") = 1,
           "The bytes of a section; their number is a multiple of `unit`.");
}

}  // namespace pincite::bind
