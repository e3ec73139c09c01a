#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_flat(py::module_&) {}

}  // namespace pincite::bind
