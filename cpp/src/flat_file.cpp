// The sections of a "flat" file: meta, vectors and, with a smaller copy, residuals and halves, or codes and
// scales.
#include <string>

#include "pincite/envelope.hpp"
#include "pincite/error.hpp"
#include "pincite/flat.hpp"

namespace pincite {
namespace {

struct Meta {
  std::uint64_t size;
  std::uint64_t dim;
  std::uint32_t storage;
  std::uint32_t zero;
};
static_assert(sizeof(Meta) == 24 && std::is_trivially_copyable_v<Meta>);

[[noreturn]] void corrupt(const Envelope& envelope, const std::string& why) {
  throw IndexCorruptError(envelope.path().string() + ": " + why +
                          "; restore it from a backup or build it again");
}

Meta checked_meta(const Envelope& envelope) {
  const auto meta = envelope.value<Meta>("meta");
  if (meta.size > 0xFFFFFFFFU || meta.dim == 0 || meta.dim > 0xFFFFFFFFU || meta.storage > 2) {
    corrupt(envelope, "it claims " + std::to_string(meta.size) + " vectors of " + std::to_string(meta.dim) +
                          " dimensions in storage " + std::to_string(meta.storage));
  }
  if (meta.storage == static_cast<std::uint32_t>(Storage::int8) && meta.dim > max_int8_dim) {
    corrupt(envelope, "it claims " + std::to_string(meta.dim) + " dimensions as int8");
  }
  return meta;
}

// `count` is below 2^64: the product of two numbers below 2^32.
template <class T>
std::span<const T> exactly(const Envelope& envelope, std::string_view name, std::uint64_t count) {
  const std::span<const T> values = envelope.values<T>(name);
  if (values.size() != count) {
    corrupt(envelope, "section '" + std::string(name) + "' holds " + std::to_string(values.size()) +
                          " values, wanted " + std::to_string(count));
  }
  return values;
}

}  // namespace

void FlatIndex::save(const std::filesystem::path& path) const {
  const Meta meta{vectors_->size(), vectors_->dim(), static_cast<std::uint32_t>(storage_), 0};
  EnvelopeWriter writer("flat");
  writer.add("meta", std::span(&meta, 1));
  writer.add("vectors", vectors_->values());
  if (storage_ != Storage::float32) writer.add("residuals", copy_.residuals);
  if (storage_ == Storage::float16) writer.add("halves", copy_.halves);
  if (storage_ == Storage::int8) {
    writer.add("codes", copy_.codes);
    writer.add("scales", copy_.scales);
  }
  writer.write(path);
}

FlatIndex FlatIndex::load(const std::filesystem::path& path, bool verify) {
  const std::shared_ptr<const Envelope> envelope = Envelope::open(path, "flat", verify);
  const Meta meta = checked_meta(*envelope);
  const std::uint64_t values = meta.size * meta.dim;
  FlatIndex out;
  out.storage_ = static_cast<Storage>(meta.storage);
  out.vectors_ = Vectors::view(exactly<float>(*envelope, "vectors", values),
                               static_cast<std::size_t>(meta.dim), envelope);
  out.copy_.owner = envelope;
  if (out.storage_ != Storage::float32)
    out.copy_.residuals = exactly<float>(*envelope, "residuals", meta.size);
  if (out.storage_ == Storage::float16) out.copy_.halves = exactly<Half>(*envelope, "halves", values);
  if (out.storage_ == Storage::int8) {
    out.copy_.codes = exactly<std::int8_t>(*envelope, "codes", values);
    out.copy_.scales = exactly<float>(*envelope, "scales", meta.size);
  }
  return out;
}

}  // namespace pincite
