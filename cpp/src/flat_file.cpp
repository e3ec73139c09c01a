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

Meta checked_meta(const Envelope& envelope) {
  const auto meta = envelope.value<Meta>("meta");
  if (meta.size > 0xFFFFFFFFU || meta.dim == 0 || meta.dim > 0xFFFFFFFFU || meta.storage > 2) {
    envelope.refuse("it claims " + std::to_string(meta.size) + " vectors of " + std::to_string(meta.dim) +
                    " dimensions in storage " + std::to_string(meta.storage));
  }
  if (meta.storage == static_cast<std::uint32_t>(Storage::int8) && meta.dim > max_int8_dim) {
    envelope.refuse("it claims " + std::to_string(meta.dim) + " dimensions as int8");
  }
  return meta;
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
  out.vectors_ =
      Vectors::view(envelope->values<float>("vectors", values), static_cast<std::size_t>(meta.dim), envelope);
  out.copy_.owner = envelope;
  if (out.storage_ != Storage::float32) out.copy_.residuals = envelope->values<float>("residuals", meta.size);
  if (out.storage_ == Storage::float16) out.copy_.halves = envelope->values<Half>("halves", values);
  if (out.storage_ == Storage::int8) {
    out.copy_.codes = envelope->values<std::int8_t>("codes", values);
    out.copy_.scales = envelope->values<float>("scales", meta.size);
  }
  return out;
}

}  // namespace pincite
