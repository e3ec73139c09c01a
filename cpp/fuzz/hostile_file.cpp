#include "hostile_file.hpp"

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "pincite/envelope.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuzz {
namespace {

// Places in the format of envelope.hpp, which the library keeps to itself.
constexpr std::size_t kind_at = 16, size_at = 64, count_at = 72, table_crc_at = 76, header_crc_at = 92;
constexpr std::size_t header_nbytes = 96, entry_nbytes = 48, alignment = 64, most_sections = 256;
constexpr std::size_t offset_in_entry = 24, nbytes_in_entry = 32, crc_in_entry = 40;

template <class T>
T get(const Bytes& file, std::size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

template <class T>
void put(Bytes& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

std::uint32_t checksum(const Bytes& file, std::size_t at, std::size_t nbytes) {
  return pincite::crc32c(std::as_bytes(std::span(file).subspan(at, nbytes)));
}

// The number of entries of the table; none where it does not fit.
std::optional<std::size_t> count_of(const Bytes& file) {
  if (file.size() < header_nbytes) return std::nullopt;
  const auto count = get<std::uint32_t>(file, count_at);
  if (count > most_sections || header_nbytes + count * entry_nbytes > file.size()) return std::nullopt;
  return count;
}

struct Section {
  std::array<std::uint8_t, offset_in_entry> name;
  Bytes bytes;
};

std::optional<std::vector<Section>> sections_of(const Bytes& file) {
  const auto count = count_of(file);
  if (!count) return std::nullopt;
  std::vector<Section> out(*count);
  for (std::size_t i = 0; i < *count; ++i) {
    const std::size_t entry = header_nbytes + i * entry_nbytes;
    const auto offset = get<std::uint64_t>(file, entry + offset_in_entry);
    const auto nbytes = get<std::uint64_t>(file, entry + nbytes_in_entry);
    if (offset > file.size() || nbytes > file.size() - offset) return std::nullopt;
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(entry), out[i].name.size(), out[i].name.begin());
    out[i].bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(offset),
                        file.begin() + static_cast<std::ptrdiff_t>(offset + nbytes));
  }
  return out;
}

// The header of `like`, and the sections where they belong.
Bytes assembled(const Bytes& like, const std::vector<Section>& sections) {
  Bytes file(like.begin(), like.begin() + header_nbytes);
  file.resize(header_nbytes + sections.size() * entry_nbytes);
  put(file, count_at, static_cast<std::uint32_t>(sections.size()));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    const std::size_t entry = header_nbytes + i * entry_nbytes;
    std::copy(sections[i].name.begin(), sections[i].name.end(),
              file.begin() + static_cast<std::ptrdiff_t>(entry));
    put(file, entry + offset_in_entry, static_cast<std::uint64_t>(file.size()));
    put(file, entry + nbytes_in_entry, static_cast<std::uint64_t>(sections[i].bytes.size()));
    file.insert(file.end(), sections[i].bytes.begin(), sections[i].bytes.end());
  }
  return file;
}

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

// Puts another number for one of a section, or adds or drops one: such as loaders take for a size or a place.
template <class T>
void change_number(Bytes& bytes, Random& random) {
  const std::size_t count = bytes.size() / sizeof(T);
  const std::size_t at = below(random, count + 1) * sizeof(T);
  const std::size_t how = below(random, 8);
  if (how == 0 || at + sizeof(T) > bytes.size()) {
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), sizeof(T), std::uint8_t{0});
  } else if (how == 1) {
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    bytes.erase(place, place + sizeof(T));
    return;
  }
  const T old = get<T>(bytes, at);
  const T other = count == 0 ? T{0} : get<T>(bytes, below(random, count) * sizeof(T));
  const T power = static_cast<T>(T{1} << below(random, 8 * sizeof(T)));
  const std::array<T, 8> values = {static_cast<T>(old + 1),
                                   static_cast<T>(old - 1),
                                   T{0},
                                   power,
                                   static_cast<T>(old ^ power),
                                   std::numeric_limits<T>::max(),
                                   other,
                                   static_cast<T>(other + 1)};  // clang-format keeps eight
  put(bytes, at, values[below(random, values.size())]);
}

void change_section(Bytes& bytes, Random& random) {
  switch (below(random, 4)) {
    case 0: {
      const std::size_t size = bytes.size();
      bytes.resize(size + 16);
      bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
      return;
    }
    case 1:
      change_number<std::uint64_t>(bytes, random);
      return;
    case 2:
      change_number<std::uint8_t>(bytes, random);
      return;
    default:
      change_number<std::uint32_t>(bytes, random);
  }
}

int memory_file() {
  static const int descriptor = ::memfd_create("hostile", MFD_CLOEXEC);
  if (descriptor < 0) std::abort();
  return descriptor;
}

std::ptrdiff_t held = 0;
std::ptrdiff_t most_held = 0;
bool metering = false;

void on_malloc(const volatile void*, std::size_t nbytes) {
  if (!metering) return;
  held += static_cast<std::ptrdiff_t>(nbytes);
  most_held = std::max(most_held, held);
}

void on_free(const volatile void* at) {
  if (metering && at != nullptr)
    held -= static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(const_cast<const void*>(at)));
}

}  // namespace

void seal(Bytes& file) {
  if (file.size() < header_nbytes) return;
  put(file, size_at, static_cast<std::uint64_t>(file.size()));
  if (const auto count = count_of(file)) {
    for (std::size_t i = 0; i < *count; ++i) {
      const std::size_t entry = header_nbytes + i * entry_nbytes;
      const auto offset = get<std::uint64_t>(file, entry + offset_in_entry);
      const auto nbytes = get<std::uint64_t>(file, entry + nbytes_in_entry);
      if (offset > file.size() || nbytes > file.size() - offset) continue;
      put(file, entry + crc_in_entry, checksum(file, offset, nbytes));
    }
    put(file, table_crc_at, checksum(file, header_nbytes, *count * entry_nbytes));
  }
  put(file, header_crc_at, checksum(file, 0, header_crc_at));
}

std::string_view kind_of(const Bytes& file) {
  if (file.size() < header_nbytes) return {};
  const char* const kind = reinterpret_cast<const char*>(file.data()) + kind_at;
  return {kind, ::strnlen(kind, 16)};
}

std::filesystem::path in_memory(const Bytes& bytes) {
  const int file = memory_file();
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

HeapMeter::HeapMeter() {
  static const bool installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
  if (!installed) std::abort();
  held = most_held = 0;
  metering = true;
}

HeapMeter::~HeapMeter() { metering = false; }

std::size_t HeapMeter::most() const { return static_cast<std::size_t>(most_held); }

}  // namespace fuzz

// One section changed and the others left, in a file that is laid out as one of ours; now and then any byte.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace fuzz;
  Random random(seed);
  const Bytes file(data, data + size);
  auto sections = sections_of(file);
  if (!sections || sections->empty() || below(random, 8) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t chosen = below(random, sections->size());
  switch (below(random, 32)) {
    case 0:
      sections->erase(sections->begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    case 1:
      std::swap((*sections)[chosen].bytes, (*sections)[below(random, sections->size())].bytes);
      break;
    default:
      change_section((*sections)[chosen].bytes, random);
  }
  Bytes changed = assembled(file, *sections);
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  seal(changed);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
