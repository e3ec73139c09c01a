#include <string>

#include "common.hpp"
#include "pincite/error.hpp"
#include "pincite/kernels.hpp"
#include "register.hpp"

namespace pincite::bind {

void register_kernels(py::module_& module) {
  module.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const Kernel* kernel : available_kernels()) names.emplace_back(kernel->name);
        return names;
      },
      "Names of the kernels this machine can run, slowest first.");
  module.def(
      "default_kernel", [] { return std::string(default_kernel().name); },
      "Name of the kernel in use: the fastest, or the one that PINCITE_KERNEL names.");
  module.def(
      "dot",
      [](const FloatArray& a, const FloatArray& b, const std::string& kernel) {
        if (a.size() != b.size()) {
          throw InvalidInputError("vectors have " + std::to_string(a.size()) + " and " +
                                  std::to_string(b.size()) + " values, wanted the same number");
        }
        const Kernel& chosen = kernel.empty() ? default_kernel() : kernel_by_name(kernel);
        return chosen.dot(a.data(), b.data(), static_cast<std::size_t>(a.size()));
      },
      py::arg("a").noconvert(), py::arg("b").noconvert(), py::kw_only(), py::arg("kernel") = "",
      "Dot product of two float32 arrays with a named kernel.");
}

}  // namespace pincite::bind
