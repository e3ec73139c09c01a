#include "pincite/kernels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cpu.hpp"
#include "kernels/table.hpp"
#include "pincite/error.hpp"

namespace pincite {

std::span<const Kernel* const> available_kernels() {
  static const std::vector<const Kernel*> available = [] {
    const kernels::Cpu cpu = kernels::cpu();
    std::vector<const Kernel*> found = {kernels::scalar()};
    const auto add = [&](bool runs, const Kernel* kernel) {
      if (runs && kernel != nullptr) found.push_back(kernel);
    };
    add(true, kernels::neon());
    add(cpu.avx2, kernels::avx2());
    add(cpu.avx512, kernels::avx512());
    add(cpu.avx512vnni, kernels::avx512vnni());
    return found;
  }();
  return available;
}

const Kernel& kernel_by_name(std::string_view name) {
  std::string names;
  for (const Kernel* kernel : available_kernels()) {
    if (kernel->name == name) return *kernel;
    names += (names.empty() ? "" : ", ") + std::string(kernel->name);
  }
  throw InvalidInputError("no kernel named '" + std::string(name) +
                          "' runs on this machine; available: " + names);
}

const Kernel& default_kernel() {
  static const Kernel& chosen = [&]() -> const Kernel& {
    const char* forced = std::getenv("PINCITE_KERNEL");
    if (forced != nullptr && *forced != '\0') return kernel_by_name(forced);
    return *available_kernels().back();
  }();
  return chosen;
}

}  // namespace pincite
