#include "pincite/envelope.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "file.hpp"
#include "pincite/error.hpp"

namespace pincite {
namespace {

static_assert(std::endian::native == std::endian::little, "the file format is little-endian");

constexpr std::array<unsigned char, 8> magic = {0x89, 'P', 'I', 'N', 'C', 'I', 'T', '\n'};
constexpr std::uint32_t format_version = 1;
constexpr std::uint32_t byte_order_mark = 0x01020304;
constexpr std::size_t alignment = 64;
constexpr std::size_t max_sections = 256;

struct Header {
  std::array<unsigned char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::array<char, 16> kind;
  Stamp stamp;
  std::uint64_t file_size;
  std::uint32_t section_count;
  std::uint32_t table_crc;
  std::array<std::uint32_t, 3> zero;
  std::uint32_t header_crc;
};
static_assert(sizeof(Header) == 96 && std::is_trivially_copyable_v<Header>);

struct Entry {
  std::array<char, 24> name;
  std::uint64_t offset;
  std::uint64_t nbytes;
  std::uint32_t crc;
  std::uint32_t zero;
};
static_assert(sizeof(Entry) == 48 && std::is_trivially_copyable_v<Entry>);

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}

template <std::size_t N>
std::string_view padded_name(const std::array<char, N>& field) {
  return {field.data(),
          static_cast<std::size_t>(std::find(field.begin(), field.end(), '\0') - field.begin())};
}

bool is_ascii(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

template <std::size_t N>
void put_name(std::array<char, N>& field, std::string_view name) {
  if (name.empty() || name.size() >= N) {
    throw InvalidInputError("name '" + std::string(name) + "' has " + std::to_string(name.size()) +
                            " bytes, wanted 1 to " + std::to_string(N - 1));
  }
  if (!is_ascii(name)) {
    throw InvalidInputError("name '" + std::string(name) + "' holds more than visible ASCII characters");
  }
  field.fill('\0');
  std::copy(name.begin(), name.end(), field.begin());
}

std::uint32_t header_crc(const Header& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_crc)));
}

[[noreturn]] void corrupt(const std::filesystem::path& path, const std::string& why) {
  throw IndexCorruptError(file::display(path) + ": " + why + "; restore it from a backup or build it again");
}

// Copies the header out of the bytes and checks everything in it that needs no other byte.
Header checked_header(std::span<const std::byte> bytes, const std::filesystem::path& path,
                      std::string_view kind) {
  if (bytes.size() < sizeof(Header)) {
    corrupt(path, "the file has " + std::to_string(bytes.size()) + " bytes, a header alone has " +
                      std::to_string(sizeof(Header)));
  }
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != magic) corrupt(path, "this is not a Pincite index file (wrong first 8 bytes)");
  if (header.byte_order != byte_order_mark) {
    throw IncompatibleIndexError(file::display(path) +
                                 ": written with another byte order; build it again here");
  }
  if (header.version != format_version) {
    throw IncompatibleIndexError(file::display(path) + ": format version " + std::to_string(header.version) +
                                 ", this build reads version " + std::to_string(format_version) +
                                 "; use the release that wrote it, or build it again");
  }
  if (header_crc(header) != header.header_crc) corrupt(path, "the header's checksum does not match");
  if (!is_ascii(padded_name(header.kind))) corrupt(path, "the kind is not ASCII");
  if (padded_name(header.kind) != kind) {
    throw IncompatibleIndexError(file::display(path) + ": holds an index of kind '" +
                                 std::string(padded_name(header.kind)) + "', wanted '" + std::string(kind) +
                                 "'");
  }
  if (header.zero != decltype(header.zero){}) corrupt(path, "the header's reserved bytes are not zero");
  if (header.file_size != bytes.size()) {
    corrupt(path, "the file has " + std::to_string(bytes.size()) + " bytes, its header says " +
                      std::to_string(header.file_size));
  }
  if (header.section_count > max_sections ||
      sizeof(Header) + header.section_count * sizeof(Entry) > bytes.size()) {
    corrupt(path, "the header names " + std::to_string(header.section_count) + " sections, more than fit");
  }
  return header;
}

}  // namespace

EnvelopeWriter::EnvelopeWriter(std::string_view kind, Stamp stamp) : kind_(kind), stamp_(stamp) {
  Header probe{};
  put_name(probe.kind, kind);
}

void EnvelopeWriter::add_bytes(std::string_view name, std::span<const std::byte> bytes) {
  Entry probe{};
  put_name(probe.name, name);
  if (sections_.size() == max_sections) throw InvalidInputError("a file holds at most 256 sections");
  for (const Section& section : sections_) {
    if (section.name == name) throw InvalidInputError("section '" + std::string(name) + "' was added twice");
  }
  sections_.push_back({std::string(name), bytes});
}

void EnvelopeWriter::write(const std::filesystem::path& path) const {
  std::vector<Entry> table(sections_.size());
  std::uint64_t end = sizeof(Header) + table.size() * sizeof(Entry);
  for (std::size_t i = 0; i < table.size(); ++i) {
    put_name(table[i].name, sections_[i].name);
    table[i].offset = aligned(end);
    table[i].nbytes = sections_[i].bytes.size();
    table[i].crc = crc32c(sections_[i].bytes);
    end = table[i].offset + table[i].nbytes;
  }
  Header header{};
  header.magic = magic;
  header.version = format_version;
  header.byte_order = byte_order_mark;
  put_name(header.kind, kind_);
  header.stamp = stamp_;
  header.file_size = end;
  header.section_count = static_cast<std::uint32_t>(table.size());
  header.table_crc = crc32c(std::as_bytes(std::span(table)));
  header.header_crc = header_crc(header);

  file::AtomicWriter out(path);
  out.append(std::as_bytes(std::span(&header, 1)));
  out.append(std::as_bytes(std::span(table)));
  const std::array<std::byte, alignment> zeros{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    out.append(std::span(zeros).first(static_cast<std::size_t>(table[i].offset - out.size())));
    out.append(sections_[i].bytes);
  }
  out.commit();
}

std::shared_ptr<const Envelope> Envelope::open(const std::filesystem::path& path, std::string_view kind,
                                               bool verify) {
  const file::Map map = file::map(path);
  const std::span<const std::byte> bytes = map.bytes;
  const Header header = checked_header(bytes, path, kind);
  const auto table_bytes = bytes.subspan(sizeof(Header), header.section_count * sizeof(Entry));
  if (crc32c(table_bytes) != header.table_crc) corrupt(path, "the section table's checksum does not match");

  std::shared_ptr<Envelope> out(new Envelope);
  out->path_ = path;
  out->stamp_ = header.stamp;
  out->map_ = map.owner;
  out->sections_.reserve(header.section_count);
  std::uint64_t end = sizeof(Header) + table_bytes.size();
  for (std::size_t i = 0; i < header.section_count; ++i) {
    Entry entry;
    std::memcpy(&entry, table_bytes.data() + i * sizeof(Entry), sizeof entry);
    const std::string name(padded_name(entry.name));
    if (!is_ascii(name)) corrupt(path, "the name of section " + std::to_string(i) + " is not ASCII");
    if (entry.offset != aligned(end) || entry.offset > bytes.size() ||
        entry.nbytes > bytes.size() - entry.offset) {
      corrupt(path, "section '" + name + "' lies outside its place in the file");
    }
    const auto padding =
        bytes.subspan(static_cast<std::size_t>(end), static_cast<std::size_t>(entry.offset - end));
    if (entry.zero != 0 ||
        std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
      corrupt(path, "bytes before section '" + name + "' are not zero");
    }
    if (out->has(name)) corrupt(path, "section '" + name + "' is named twice");
    const auto section =
        bytes.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.nbytes));
    if (verify && crc32c(section) != entry.crc)
      corrupt(path, "the checksum of section '" + name + "' does not match");
    out->sections_.push_back({name, section});
    end = entry.offset + entry.nbytes;
  }
  if (end != bytes.size()) corrupt(path, "bytes follow the last section");
  return out;
}

bool Envelope::has(std::string_view name) const noexcept {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
}

std::vector<std::string> Envelope::names() const {
  std::vector<std::string> out;
  for (const Section& section : sections_) out.push_back(section.name);
  return out;
}

std::span<const std::byte> Envelope::bytes(std::string_view name, std::size_t unit) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  if (found == sections_.end()) corrupt(path_, "section '" + std::string(name) + "' is missing");
  if (found->bytes.size() % unit != 0) {
    corrupt(path_, "section '" + found->name + "' has " + std::to_string(found->bytes.size()) +
                       " bytes, which does not fit values of " + std::to_string(unit) + " bytes");
  }
  return found->bytes;
}

void Envelope::refuse(const std::string& why) const { corrupt(path_, why); }

}  // namespace pincite
