#include "pincite/utf8.hpp"

#include "pincite/error.hpp"

namespace pincite {
namespace {

[[noreturn]] void refuse(std::string_view text, std::size_t at) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(text[at]);
  std::string message = "text is not valid UTF-8: byte 0x";
  message += digits[byte >> 4U];
  message += digits[byte & 15U];
  message += " at byte offset " + std::to_string(at) +
             "; decode the file with its own encoding before handing it over";
  throw InvalidInputError(message);
}

}  // namespace

char32_t decode_next(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  bool valid = true;
  const auto continuation = [&](std::size_t i) {
    const unsigned byte = at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    valid = valid && (byte & 0xC0U) == 0x80U;
    return byte & 0x3FU;
  };
  char32_t code_point = 0;
  std::size_t length = 2;
  if (lead < 0xE0) {
    code_point = (lead & 0x1FU) << 6U | continuation(1);
    valid = valid && lead >= 0xC2;
  } else if (lead < 0xF0) {
    length = 3;
    code_point = (lead & 0x0FU) << 12U | continuation(1) << 6U | continuation(2);
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    valid = valid && code_point >= 0x800 && !surrogate;
  } else {
    length = 4;
    code_point = (lead & 0x0FU) << 18U | continuation(1) << 12U | continuation(2) << 6U | continuation(3);
    valid = valid && code_point >= 0x10000 && code_point <= 0x10FFFF;
  }
  if (!valid) refuse(text, at);
  at += length;
  return code_point;
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) out += decode_next(text, at);
  return out;
}

void check_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) (void)decode_next(text, at);
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0U | (c >> 6U));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0U | (c >> 12U));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (c >> 18U));
    out += static_cast<char>(0x80U | ((c >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (c & 0x3FU));
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

}  // namespace pincite
