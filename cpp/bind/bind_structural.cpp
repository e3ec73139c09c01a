#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_structural(py::module_&) {}

}  // namespace pincite::bind
