// Bits as in the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID, and volume
// 1, section 13.3 (XCR0). Asked directly: __builtin_cpu_supports knows F16C in recent compilers only.
#include "cpu.hpp"

#if defined(__x86_64__) || defined(_M_X64)

#include <array>
#include <cstdint>

#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace pincite::kernels {
namespace {

struct Leaf {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

#if defined(_MSC_VER)
Leaf cpuid(std::uint32_t leaf) noexcept {
  std::array<int, 4> out{};
  __cpuid(out.data(), 0);
  if (static_cast<std::uint32_t>(out[0]) < leaf) return {};
  __cpuidex(out.data(), static_cast<int>(leaf), 0);
  return {static_cast<std::uint32_t>(out[0]), static_cast<std::uint32_t>(out[1]),
          static_cast<std::uint32_t>(out[2]), static_cast<std::uint32_t>(out[3])};
}
std::uint64_t saved_registers() noexcept { return _xgetbv(0); }
#else
Leaf cpuid(std::uint32_t leaf) noexcept {
  Leaf out;
  __get_cpuid_count(leaf, 0, &out.eax, &out.ebx, &out.ecx, &out.edx);
  return out;
}
std::uint64_t saved_registers() noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32U) | low;
}
#endif

constexpr bool has(std::uint64_t word, std::uint64_t bits) noexcept { return (word & bits) == bits; }
constexpr std::uint32_t bit(unsigned i) noexcept { return std::uint32_t{1} << i; }

}  // namespace

Cpu cpu() noexcept {
  Cpu out;
  const Leaf basic = cpuid(1);
  const Leaf extended = cpuid(7);
  if (!has(basic.ecx, bit(27))) return out;  // OSXSAVE: xgetbv may be asked
  const std::uint64_t saved = saved_registers();
  const bool f16c_fma = has(basic.ecx, bit(12) | bit(28) | bit(29));  // FMA, AVX, F16C
  out.avx2 = f16c_fma && has(extended.ebx, bit(5)) && has(saved, 0x06);
  out.avx512 = out.avx2 && has(extended.ebx, bit(16) | bit(17) | bit(30) | bit(31)) && has(saved, 0xE6);
  out.avx512vnni = out.avx512 && has(extended.ecx, bit(11));
  return out;
}

}  // namespace pincite::kernels

#else

pincite::kernels::Cpu pincite::kernels::cpu() noexcept { return {}; }

#endif
