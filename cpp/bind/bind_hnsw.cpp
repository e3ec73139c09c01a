#include "common.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_hnsw(py::module_&) {}

}  // namespace pincite::bind
