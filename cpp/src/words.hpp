// Word segmentation after UAX #29 (rules WB1 to WB999, no tailoring).
#pragma once

#include <cstddef>
#include <string_view>

namespace pincite::unicode {

struct Segment {
  std::size_t end;
  bool word;      // holds a letter or a number
  bool unspaced;  // every character of it belongs to a script written without spaces
};

/// The segment that begins at `start`, which is the start of the text or the end of another segment. Looks at
/// most past one punctuation mark and the marks on it, so that a text is segmented in linear time whatever it
/// holds.
[[nodiscard]] Segment next_segment(std::u32string_view text, std::size_t start);

}  // namespace pincite::unicode
