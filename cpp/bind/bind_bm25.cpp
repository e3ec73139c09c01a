#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_bm25(py::module_&) {}

}  // namespace pincite::bind
