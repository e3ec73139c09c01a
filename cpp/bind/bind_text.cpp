#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_text(py::module_&) {}

}  // namespace pincite::bind
