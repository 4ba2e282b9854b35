// The bytes of the store's values. All integers are big-endian, so that keys made of them sort.
//
//   table, view   {u8 version = 1 | u8 format version | u64 generation | 16 uuid | 16 fingerprint |
//                  location: the rest}
//   namespace     {u8 version = 1 | u64 generation | u32 count | count x {u32 size | bytes} x 2}
//   log key       {u64 generation | u32 chunk}
//   log value     {u8 version = 1 | changes: {u8 kind | u16 key size | key | u32 row size | row}};
//                 the kind of a dropped view has its highest bit set
//   idempotency   {'k' | key} -> {u8 version = 1 | u8 form | u16 status | 16 binding | u64 expiry |
//                  u32 size | text | u32 size | row}
//                 {'e' | u64 expiry | key} -> nothing: the order in which they expire
//
// Bytes that are decoded are input: what does not add up is nullopt, and the caller names the
// file and the key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/store.h"

namespace iceblink::daemon {

struct NamespaceRow {
  Properties properties;
  std::uint64_t generation = 0;  // of the last change of the namespace or its properties
};

[[nodiscard]] std::string encode_u64(std::uint64_t value);
[[nodiscard]] std::optional<std::uint64_t> decode_u64(std::string_view bytes);

[[nodiscard]] std::string encode_row(const TableRow& row);
/// The change's `location` is a view into `bytes`; its kind and key are left alone.
[[nodiscard]] bool decode_row(std::string_view bytes, shm::Change& change);
[[nodiscard]] std::optional<TableRow> decode_row(std::string_view bytes);

[[nodiscard]] std::string encode_namespace_row(const NamespaceRow& row);
[[nodiscard]] std::optional<NamespaceRow> decode_namespace_row(std::string_view bytes);
/// The generation alone, without reading the properties.
[[nodiscard]] std::optional<std::uint64_t> decode_namespace_generation(std::string_view bytes);

[[nodiscard]] std::string answer_key(const IdempotencyKey& key);
[[nodiscard]] std::string expiry_key(std::int64_t expires_at_ms, const IdempotencyKey& key);
struct Expiry {
  std::int64_t at_ms = 0;
  IdempotencyKey key{};
};
/// nullopt: no key of that kind.
[[nodiscard]] std::optional<Expiry> decode_expiry_key(std::string_view bytes);
[[nodiscard]] std::string encode_answer(const StoredAnswer& answer);
[[nodiscard]] std::optional<StoredAnswer> decode_answer(std::string_view bytes);

[[nodiscard]] std::string log_key(std::uint64_t generation, std::uint32_t chunk);
/// The generation of a log key.
[[nodiscard]] std::optional<std::uint64_t> generation_of_log_key(std::string_view key);

[[nodiscard]] std::string encode_changes(std::span<const LoggedChange> changes);
/// Appends to `out`, with `generation`. False when the bytes do not add up.
[[nodiscard]] bool decode_changes(std::string_view bytes, std::uint64_t generation,
                                  std::vector<LoggedChange>& out);

}  // namespace iceblink::daemon
