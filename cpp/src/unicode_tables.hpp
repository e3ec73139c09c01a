// The tables of unicode_tables.cpp, which tools/generate_unicode_tables.py writes. Read through unicode.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pincite::unicode {

struct PropertyRecord {
  std::uint8_t word_break;  // a WordBreak
  std::uint8_t combining_class;
  std::uint8_t flags;  // of Flag
};

struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

// stage2[stage1[c / 128] * 128 + c % 128]. A mapping is an offset into the pool << 5 | its length; 0: none.
extern const PropertyRecord property_records[];
extern const std::uint8_t property_stage1[];
extern const std::uint8_t property_stage2[];
extern const std::uint8_t decomposition_stage1[];
extern const std::uint32_t decomposition_stage2[];
extern const std::uint8_t case_folding_stage1[];
extern const std::uint32_t case_folding_stage2[];
extern const char32_t mapping_pool[];
extern const Composition compositions[];  // by first, then second
extern const std::size_t n_compositions;

}  // namespace pincite::unicode
