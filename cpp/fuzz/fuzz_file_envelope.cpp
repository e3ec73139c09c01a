// Any bytes as a file of named sections: refused with an error of ours, or every section lies in the file.
#include <cstdint>
#include <cstdlib>

#include "hostile_file.hpp"
#include "pincite/envelope.hpp"
#include "pincite/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::HostileFile file(data, size);
  for (const bool verify : {true, false}) {
    try {
      const auto envelope =
          file.load([&](const auto& path) { return pincite::Envelope::open(path, "rows", verify); });
      std::size_t nbytes = 0;
      for (const std::string& name : envelope->names()) {
        nbytes += envelope->bytes(name).size();
        (void)pincite::crc32c(envelope->bytes(name));  // reads it all
        if (envelope->bytes(name).size() == 8) (void)envelope->value<std::uint64_t>(name);
      }
      if (nbytes > size) std::abort();
    } catch (const pincite::Error&) {  // what a damaged file is answered with
    }
  }
  return 0;
}
