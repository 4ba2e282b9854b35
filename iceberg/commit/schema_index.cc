#include "iceberg/commit/schema_index.h"

#include <xxhash.h>

#include <memory>
#include <new>

namespace iceblink::iceberg {

/// The hash of the begin of a full name, which can go on in many ways.
class SchemaIndex::NameHash {
 public:
  explicit NameHash(std::uint64_t seed) : NameHash() {
    XXH3_128bits_reset_withSeed(state_.get(), seed);
  }
  [[nodiscard]] NameHash followed_by(std::string_view text) const {
    NameHash longer;
    XXH3_copyState(longer.state_.get(), state_.get());
    XXH3_128bits_update(longer.state_.get(), text.data(), text.size());
    return longer;
  }
  [[nodiscard]] NameKey key() const noexcept {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };

  NameHash() {
    if (state_ == nullptr) throw std::bad_alloc();
  }

  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

SchemaIndex::SchemaIndex(const Schema& schema, std::uint64_t hash_seed)
    : hash_seed_(hash_seed), by_id_(0, KeyHash{hash_seed}) {
  add(schema.fields, NameHash(hash_seed), false);
}

const SchemaIndex::Entry* SchemaIndex::find(std::int32_t id) const noexcept {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

const Field* SchemaIndex::find(std::string_view full_name) const noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(full_name.data(), full_name.size(), hash_seed_);
  const auto found = by_name_.find(NameKey{hash.low64, hash.high64});
  return found == by_name_.end() ? nullptr : found->second;
}

void SchemaIndex::add(std::span<const Field> fields, const NameHash& prefix, bool is_repeated) {
  for (const Field& field : fields) {
    const NameHash name = prefix.followed_by(field.name);
    by_id_.emplace(field.id, Entry{&field, is_repeated});
    by_name_.emplace(name.key(), &field);
    if (!field.type.is_nested()) continue;
    add(field.type.fields, name.followed_by("."),
        is_repeated || field.type.kind != TypeKind::kStruct);
  }
}

}  // namespace iceblink::iceberg
