// One function a concept; module.cpp calls them.
#pragma once

#include <pybind11/pybind11.h>

namespace pincite::bind {

void register_errors(pybind11::module_& module);
void register_kernels(pybind11::module_& module);
void register_envelope(pybind11::module_& module);
void register_text(pybind11::module_& module);
void register_chunking(pybind11::module_& module);
void register_structural(pybind11::module_& module);
void register_bm25(pybind11::module_& module);
void register_bm25_collection(pybind11::module_& module);
void register_flat(pybind11::module_& module);
void register_hnsw(pybind11::module_& module);
void register_fusion(pybind11::module_& module);

}  // namespace pincite::bind
