// What the processor and the operating system offer.
#pragma once

namespace pincite::kernels {

struct Cpu {
  bool avx2 = false;        // with FMA and F16C, and the wide registers saved by the operating system
  bool avx512 = false;      // F, BW, DQ and VL, likewise
  bool avx512vnni = false;  // avx512 and VNNI
};

[[nodiscard]] Cpu cpu() noexcept;

}  // namespace pincite::kernels
