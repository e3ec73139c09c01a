// The form of a word that is matched: NFKC, full case folding, accent folding.
#pragma once

#include <string>
#include <string_view>

namespace pincite::unicode {

/// Folds words into terms, one at a time, in buffers of its own. Folding a term again changes nothing.
///
/// In this order: compatibility decomposition and full case folding; white space, control characters
/// and default-ignorable code points (ZWJ, soft hyphen, variation selectors, ...) go; the marks U+0300 to
/// U+036F go from Latin, Greek and Cyrillic letters, but a breve stays on a Cyrillic one, where it makes
/// another letter (и and й, у and ў); the letters that have no decomposition become plain ones (ø o, ł l, æ
/// ae, ...) and U+2019 the ASCII apostrophe; canonical composition. The result may be empty.
class TermFolder {
 public:
  /// Valid until the next call.
  [[nodiscard]] std::u32string_view fold(std::u32string_view word);

 private:
  void decompose(std::u32string_view word);
  void fold_case();
  void drop_accents();
  void keep(char32_t c, std::u32string& out);

  std::u32string decomposed_;
  std::u32string folded_;
  bool marks_ = false;     // whether any combining class is not 0, and so the order matters
  bool composes_ = false;  // whether anything is left that could compose
};

}  // namespace pincite::unicode
