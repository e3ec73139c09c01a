// The envelope with raw bytes, for tools and tests; indexes read and write it inside the core.
#include <array>
#include <string>

#include "common.hpp"
#include "pincite/envelope.hpp"
#include "pincite/error.hpp"
#include "register.hpp"

namespace pincite::bind {
namespace {

Stamp stamp_from(const py::bytes& bytes) {
  const std::string_view view = bytes;
  Stamp stamp{};
  if (view.size() != stamp.size()) {
    throw InvalidInputError("the stamp has " + std::to_string(view.size()) + " bytes, wanted 32");
  }
  std::memcpy(stamp.data(), view.data(), stamp.size());
  return stamp;
}

py::bytes to_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void register_envelope(py::module_& module) {
  module.def(
      "write_envelope",
      [](const std::string& path, const std::string& kind,
         const std::vector<std::pair<std::string, py::bytes>>& sections, const py::bytes& stamp) {
        EnvelopeWriter writer(kind, stamp_from(stamp));
        for (const auto& [name, bytes] : sections) {
          const std::string_view view = bytes;
          writer.add_bytes(name, std::as_bytes(std::span(view)));
        }
        const std::filesystem::path target = path_from(path);
        const py::gil_scoped_release release;  // the bytes objects are held by `sections`
        writer.write(target);
      },
      py::arg("path"), py::kw_only(), py::arg("kind"), py::arg("sections"), py::arg("stamp"),
      "Writes a file of named sections, whole or not at all.");
  module.def(
      "read_envelope",
      [](const std::string& path, const std::string& kind, bool verify) {
        const std::filesystem::path source = path_from(path);
        std::shared_ptr<const Envelope> envelope;
        {
          const py::gil_scoped_release release;
          envelope = Envelope::open(source, kind, verify);
        }
        py::dict sections;
        for (const std::string& name : envelope->names())
          sections[py::str(name)] = to_bytes(envelope->bytes(name));
        return std::make_pair(to_bytes(std::as_bytes(std::span(envelope->stamp()))), sections);
      },
      py::arg("path"), py::kw_only(), py::arg("kind"), py::arg("verify") = true,
      "Reads a file of named sections: (stamp, {name: bytes}).");
}

}  // namespace pincite::bind
