#include "register.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ core. Private: import pincite, not this.";
  module.attr("__version__") = PINCITE_VERSION;
  pincite::bind::register_errors(module);
  pincite::bind::register_kernels(module);
  pincite::bind::register_envelope(module);
  pincite::bind::register_text(module);
  pincite::bind::register_chunking(module);
  pincite::bind::register_structural(module);
  pincite::bind::register_bm25(module);
  pincite::bind::register_bm25_collection(module);
  pincite::bind::register_flat(module);
  pincite::bind::register_hnsw(module);
  pincite::bind::register_fusion(module);
}
