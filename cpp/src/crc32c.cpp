// CRC-32C: the processor's instruction on x86-64 (part of the v2 baseline), eight-byte tables elsewhere.
#include <array>
#include <bit>
#include <cstring>

#include "pincite/envelope.hpp"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace pincite {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78U;  // 0x1EDC6F41, bits reversed

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ polynomial : crc >> 1U;
    table[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[slice - 1][byte];
      table[slice][byte] = (before >> 8U) ^ table[0][before & 0xFFU];
    }
  }
  return table;
}

[[maybe_unused]] constexpr Table table = make_table();

std::uint64_t load8(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__SSE4_2__)
std::uint32_t step8(std::uint32_t crc, std::uint64_t word) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
}
std::uint32_t step1(std::uint32_t crc, std::byte byte) {
  return _mm_crc32_u8(crc, static_cast<unsigned char>(byte));
}
#else
std::uint32_t step8(std::uint32_t crc, std::uint64_t word) {
  word ^= crc;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) out ^= table[7 - i][(word >> (8 * i)) & 0xFFU];
  return out;
}
std::uint32_t step1(std::uint32_t crc, std::byte byte) {
  return (crc >> 8U) ^ table[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFU];
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  crc = ~crc;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) crc = step8(crc, load8(bytes.data() + i));
  for (; i < bytes.size(); ++i) crc = step1(crc, bytes[i]);
  return ~crc;
}

}  // namespace pincite
