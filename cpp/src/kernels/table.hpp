// What each kernel file gives. A file for an instruction set that the build does not target gives nullptr.
//
// Kernel files include no standard header that holds inline functions they might instantiate: such a function
// would be compiled with the file's instruction set, and the linker may pick that copy for everyone.
#pragma once

#include "pincite/kernels.hpp"

namespace pincite::kernels {

[[nodiscard]] const Kernel* scalar() noexcept;
[[nodiscard]] const Kernel* neon() noexcept;
[[nodiscard]] const Kernel* avx2() noexcept;
[[nodiscard]] const Kernel* avx512() noexcept;
[[nodiscard]] const Kernel* avx512vnni() noexcept;

}  // namespace pincite::kernels
