#include "pincite/chunking.hpp"

#include <optional>
#include <string>

#include "pincite/error.hpp"
#include "places.hpp"

namespace pincite {
namespace {

void check(std::string_view text, std::size_t target, std::size_t overlap) {
  if (target == 0) throw InvalidInputError("target is 0, wanted at least 1 UTF-16 unit");
  if (overlap >= target) {
    throw InvalidInputError("overlap is " + std::to_string(overlap) + ", wanted less than the target of " +
                            std::to_string(target) + "; lower the overlap or raise the target");
  }
  check_text(text);
}

struct Heading {
  std::size_t start;
  std::size_t title;
  std::size_t end;  // of the line, its line end not included
};

// The next `^## (.+)$` from byte `from` on.
std::optional<Heading> find_heading(std::string_view text, std::size_t from) {
  constexpr std::string_view mark = "## ";
  for (std::size_t at = text.find(mark, from); at != text.npos; at = text.find(mark, at + 1)) {
    if (!is_line_start(text, at)) continue;
    const std::size_t title = at + mark.size();
    const std::size_t end = find_line_end(text, title);
    if (end > title) return Heading{at, title, end};
  }
  return std::nullopt;
}

// Packs neighbouring parts of one section into chunks.
class Packer {
 public:
  Packer(std::string_view text, std::size_t target, std::size_t overlap, std::vector<ChunkSpan>& out)
      : text_(text), target_(target), overlap_(overlap), out_(out) {}

  // Adds the section's text from `start` to byte `end`; returns the place of `end`.
  Place add_section(Place start, std::size_t end, std::uint32_t section) {
    section_ = section;
    first_chunk_ = skip_space(text_, start.byte, end);
    while (start.byte < end) {
      const Place stop = advance(text_, start, find_blank_line(text_, start.byte, end));
      add_paragraph(start, stop);
      std::size_t next = stop.byte;
      while (next < end && text_[next] == '\n') ++next;
      start = advance(text_, stop, next);
    }
    flush();
    return start;
  }

 private:
  void add_paragraph(Place start, Place end) {
    if (skip_space(text_, start.byte, end.byte) == end.byte) return;
    if (end.unit - start.unit <= target_) {
      add(start, end);
      return;
    }
    flush();
    while (start.byte < end.byte) {
      const Place stop = advance(text_, start, sentence_end(start.byte, end.byte));
      add(start, stop);
      start = stop;
    }
    flush();
  }

  // The end of `[^.!?]*[.!?]+\s*`, or of `[^.!?]+` at the paragraph's end.
  [[nodiscard]] std::size_t sentence_end(std::size_t at, std::size_t end) const {
    at = find_stop(text_, at, end);
    while (at < end && is_stop(text_[at])) ++at;
    return skip_space(text_, at, end);
  }

  void add(Place start, Place end) {
    if (open_ && end.unit - open_->unit > target_) flush();
    if (!open_) open_ = start;
    close_ = end;
  }

  void flush() {
    if (!open_) return;
    const std::size_t first = skip_space(text_, open_->byte, close_.byte);
    const std::size_t last = trim_end(text_, first, close_.byte);
    if (first < last) {
      const Place start = advance(text_, *open_, first);
      const std::uint32_t trimmed = advance(text_, Place{.byte = last}, close_.byte).point;
      out_.push_back({start.point, close_.point - trimmed, covered_start(start), section_});
    }
    open_.reset();
  }

  [[nodiscard]] std::uint32_t covered_start(Place start) const {
    const Place reached = step_back(text_, start, first_chunk_, overlap_);
    return advance(text_, reached, skip_space(text_, reached.byte, start.byte)).point;
  }

  std::string_view text_;
  std::size_t target_;
  std::size_t overlap_;
  std::vector<ChunkSpan>& out_;
  std::uint32_t section_ = 0;
  std::size_t first_chunk_ = 0;  // the byte where the section's first chunk starts
  std::optional<Place> open_;    // the chunk that is being packed: [open_, close_)
  Place close_;
};

}  // namespace

Chunks chunk_blind(std::string_view text, std::size_t target, std::size_t overlap) {
  check(text, target, overlap);
  Chunks out;
  for (Place start; start.byte < text.size();) {
    const Place end = advance_units(text, start, target);
    out.spans.push_back({start.point, end.point, step_back(text, start, 0, overlap).point, 0});
    start = end;
  }
  return out;
}

Chunks chunk_sections(std::string_view text, std::size_t target, std::size_t overlap) {
  check(text, target, overlap);
  Chunks out;
  Packer packer(text, target, overlap, out.spans);
  Place at;
  std::optional<Heading> heading = find_heading(text, 0);
  while (heading) {
    const std::size_t title = skip_space(text, heading->title, heading->end);
    const Place title_start = advance(text, at, title);
    const Place title_end = advance(text, title_start, trim_end(text, title, heading->end));
    at = advance(text, title_end, heading->end);
    const auto section = static_cast<std::uint32_t>(out.sections.size());
    out.sections.push_back({title_start.point, title_end.point});
    heading = find_heading(text, at.byte);
    at = packer.add_section(at, heading ? heading->start : text.size(), section);
  }
  return out;
}

}  // namespace pincite
