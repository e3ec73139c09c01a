#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_chunking(py::module_&) {}

}  // namespace pincite::bind
