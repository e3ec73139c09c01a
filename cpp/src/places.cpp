#include "places.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "pincite/error.hpp"
#include "pincite/utf8.hpp"

namespace pincite {
namespace {

constexpr std::uint32_t word_size = sizeof(std::uint64_t);
constexpr std::uint64_t low_bits = 0x0101010101010101;
constexpr std::uint64_t high_bits = low_bits << 7U;

std::uint64_t load_word(std::string_view text, std::size_t at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, word_size);
  return word;
}

std::uint32_t count(std::uint64_t bits) noexcept { return static_cast<std::uint32_t>(std::popcount(bits)); }

std::uint64_t repeat(char c) noexcept { return low_bits * static_cast<unsigned char>(c); }

// Exact as a yes or no: a zero byte is there or not.
bool has_zero_byte(std::uint64_t word) noexcept { return ((word - low_bits) & ~word & high_bits) != 0; }

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

bool is_continuation(unsigned byte) noexcept { return (byte & 0xC0U) == 0x80U; }

// UTF-16 units of the code point that the byte leads.
std::uint32_t units_of(unsigned lead) noexcept { return lead >= 0xF0 ? 2 : 1; }

// The code point at byte `at` if it has two or three bytes; what has one or four is no matter here.
std::uint32_t wide_at(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  if (lead < 0xE0) return ((lead & 0x1FU) << 6U) | (byte_at(text, at + 1) & 0x3FU);
  if (lead >= 0xF0) return 0;
  return ((lead & 0x0FU) << 12U) | ((byte_at(text, at + 1) & 0x3FU) << 6U) | (byte_at(text, at + 2) & 0x3FU);
}

bool is_wide_line_end(std::uint32_t point) noexcept { return point == 0x2028 || point == 0x2029; }

bool is_wide_space(std::uint32_t point) noexcept {
  return point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
         is_wide_line_end(point) || point == 0x202F || point == 0x205F || point == 0x3000 || point == 0xFEFF;
}

bool is_space(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  return lead < 0x80 ? lead == ' ' || (lead >= '\t' && lead <= '\r') : is_wide_space(wide_at(text, at));
}

bool is_line_end(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  return lead == '\n' || lead == '\r' || (lead == 0xE2 && is_wide_line_end(wide_at(text, at)));
}

// Counts `size` bytes of a text; the others of the word are zero.
void add_bytes(Place& at, std::uint64_t word, std::uint32_t size) noexcept {
  at.point += size;
  at.unit += size;
  if ((word & high_bits) == 0) return;
  const std::uint32_t continuations = count((word >> 7U) & ~(word >> 6U) & low_bits);
  const std::uint32_t pairs = count((word >> 7U) & (word >> 6U) & (word >> 5U) & (word >> 4U) & low_bits);
  at.point -= continuations;
  at.unit -= continuations - pairs;
}

std::size_t next(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  return at + (lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
}

std::size_t previous(std::string_view text, std::size_t at) noexcept {
  do --at;
  while (is_continuation(byte_at(text, at)));
  return at;
}

}  // namespace

void check_text(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidInputError("text has " + std::to_string(text.size()) +
                            " bytes, wanted at most 4294967295; split the document");
  }
  for (std::size_t at = 0; at < text.size();) {
    if (at + word_size <= text.size() && (load_word(text, at) & high_bits) == 0) {
      at += word_size;
    } else {
      (void)decode_next(text, at);
    }
  }
}

Place advance(std::string_view text, Place from, std::size_t to) noexcept {
  for (; from.byte + word_size <= to; from.byte += word_size)
    add_bytes(from, load_word(text, from.byte), word_size);
  const auto left = static_cast<std::uint32_t>(to - from.byte);
  if (left == 0) return from;
  if (to >= word_size) {
    // The last word that ends at `to`, without the bytes that are counted already.
    const std::uint32_t counted = (word_size - left) * 8;
    const std::uint64_t word = load_word(text, to - word_size);
    add_bytes(from, std::endian::native == std::endian::little ? word >> counted : word << counted, left);
  } else {
    for (std::size_t i = from.byte; i < to; ++i) add_bytes(from, byte_at(text, i), 1);
  }
  from.byte = to;
  return from;
}

Place advance_units(std::string_view text, Place from, std::size_t units) noexcept {
  Place at = from;
  const auto room = [&] {
    const std::size_t used = at.unit - from.unit;  // beyond `units` where the first code point is
    return used < units ? units - used : 0;
  };
  // n bytes lead at most n + 1 units. A step may end inside a code point, which the loop below completes.
  while (room() > 1 && at.byte < text.size()) {
    at = advance(text, at, at.byte + std::min(room() - 1, text.size() - at.byte));
  }
  for (; at.byte < text.size(); ++at.byte) {
    const unsigned byte = byte_at(text, at.byte);
    if (is_continuation(byte)) continue;
    if (units_of(byte) > room() && at.point > from.point) break;
    ++at.point;
    at.unit += units_of(byte);
  }
  return at;
}

Place step_back(std::string_view text, Place from, std::size_t floor, std::size_t units) noexcept {
  while (from.byte > floor) {
    const std::size_t byte = previous(text, from.byte);
    const std::uint32_t width = units_of(byte_at(text, byte));
    if (width > units) break;
    units -= width;
    from = {byte, from.point - 1, from.unit - width};
  }
  return from;
}

std::size_t skip_space(std::string_view text, std::size_t from, std::size_t to) noexcept {
  while (from < to && is_space(text, from)) from = next(text, from);
  return from;
}

std::size_t trim_end(std::string_view text, std::size_t from, std::size_t to) noexcept {
  while (to > from && is_space(text, previous(text, to))) to = previous(text, to);
  return to;
}

bool is_line_start(std::string_view text, std::size_t at) noexcept {
  return at == 0 || is_line_end(text, previous(text, at));
}

std::size_t find_blank_line(std::string_view text, std::size_t from, std::size_t to) noexcept {
  for (; from + word_size < to; from += word_size) {
    if (has_zero_byte((load_word(text, from) ^ repeat('\n')) | (load_word(text, from + 1) ^ repeat('\n'))))
      break;
  }
  while (from + 1 < to && !(text[from] == '\n' && text[from + 1] == '\n')) ++from;
  return from + 1 < to ? from : to;
}

bool is_stop(char c) noexcept { return c == '.' || c == '!' || c == '?'; }

std::size_t find_stop(std::string_view text, std::size_t from, std::size_t to) noexcept {
  for (; from + word_size <= to; from += word_size) {
    const std::uint64_t word = load_word(text, from);
    if (has_zero_byte(word ^ repeat('.')) || has_zero_byte(word ^ repeat('!')) ||
        has_zero_byte(word ^ repeat('?'))) {
      break;
    }
  }
  while (from < to && !is_stop(text[from])) ++from;
  return from;
}

std::size_t find_line_end(std::string_view text, std::size_t from) noexcept {
  while (from < text.size() && !is_line_end(text, from)) ++from;
  return from;
}

}  // namespace pincite
