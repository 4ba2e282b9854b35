#include "daemon/row_codec.h"

#include <algorithm>
#include <concepts>

namespace iceblink::daemon {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kDroppedViewBit = 0x80;
constexpr char kAnswerPrefix = 'k';
constexpr char kExpiryPrefix = 'e';

template <std::unsigned_integral T>
void put(std::string& out, T value) {
  for (int shift = (static_cast<int>(sizeof(T)) - 1) * 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint8_t>(value >> shift));
  }
}

void put_sized(std::string& out, std::string_view bytes) {
  put(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

// Takes fields off the front of bytes; once something is missing, it stays bad.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T take() {
    const auto bytes = take_bytes(sizeof(T));
    T value = 0;
    for (const char c : bytes) {
      value = static_cast<T>((std::uint64_t{value} << 8) | static_cast<std::uint8_t>(c));
    }
    return value;
  }
  std::string_view take_bytes(std::size_t size) {
    if (size > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const auto bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view take_sized() { return take_bytes(take<std::uint32_t>()); }
  void take_id(shm::Id& id) {
    const auto bytes = take_bytes(id.size());
    std::copy(bytes.begin(), bytes.end(), id.begin());
  }
  std::string_view take_rest() { return take_bytes(rest_.size()); }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::string_view to_view(const shm::Id& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

}  // namespace

std::string encode_u64(std::uint64_t value) {
  std::string out;
  put(out, value);
  return out;
}

std::optional<std::uint64_t> decode_u64(std::string_view bytes) {
  Taker taker(bytes);
  const auto value = taker.take<std::uint64_t>();
  if (!taker.good() || !taker.at_end()) return std::nullopt;
  return value;
}

std::string encode_row(const TableRow& row) {
  std::string out;
  out.reserve(42 + row.location.size());
  put(out, kVersion);
  put(out, row.format_version);
  put(out, row.generation);
  out += to_view(row.table_uuid);
  out += to_view(row.metadata_fingerprint);
  out += row.location;
  return out;
}

bool decode_row(std::string_view bytes, shm::Change& change) {
  Taker taker(bytes);
  if (taker.take<std::uint8_t>() != kVersion) return false;
  change.format_version = taker.take<std::uint8_t>();
  change.generation = taker.take<std::uint64_t>();
  taker.take_id(change.table_uuid);
  taker.take_id(change.metadata_fingerprint);
  if (!taker.good()) return false;
  change.location = taker.take_rest();
  return true;
}

std::optional<TableRow> decode_row(std::string_view bytes) {
  shm::Change change;
  if (!decode_row(bytes, change)) return std::nullopt;
  return TableRow{std::string(change.location), change.table_uuid, change.metadata_fingerprint,
                  change.format_version, change.generation};
}

std::string encode_namespace_row(const NamespaceRow& row) {
  std::string out;
  put(out, kVersion);
  put(out, row.generation);
  put(out, static_cast<std::uint32_t>(row.properties.size()));
  for (const auto& [name, value] : row.properties) {
    put_sized(out, name);
    put_sized(out, value);
  }
  return out;
}

std::optional<NamespaceRow> decode_namespace_row(std::string_view bytes) {
  Taker taker(bytes);
  if (taker.take<std::uint8_t>() != kVersion) return std::nullopt;
  NamespaceRow row;
  row.generation = taker.take<std::uint64_t>();
  const auto count = taker.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && taker.good(); ++i) {
    std::string name(taker.take_sized());
    row.properties.insert_or_assign(std::move(name), std::string(taker.take_sized()));
  }
  if (!taker.good() || !taker.at_end()) return std::nullopt;
  return row;
}

std::optional<std::uint64_t> decode_namespace_generation(std::string_view bytes) {
  Taker taker(bytes);
  const auto version = taker.take<std::uint8_t>();
  const auto generation = taker.take<std::uint64_t>();
  if (!taker.good() || version != kVersion) return std::nullopt;
  return generation;
}

std::string answer_key(const IdempotencyKey& key) {
  std::string out(1, kAnswerPrefix);
  out += to_view(key);
  return out;
}

std::string expiry_key(std::int64_t expires_at_ms, const IdempotencyKey& key) {
  std::string out(1, kExpiryPrefix);
  put(out, static_cast<std::uint64_t>(expires_at_ms));
  out += to_view(key);
  return out;
}

std::optional<Expiry> decode_expiry_key(std::string_view bytes) {
  Taker taker(bytes);
  Expiry expiry;
  const auto prefix = taker.take<std::uint8_t>();
  expiry.at_ms = static_cast<std::int64_t>(taker.take<std::uint64_t>());
  taker.take_id(expiry.key);
  if (!taker.good() || !taker.at_end() || prefix != kExpiryPrefix) return std::nullopt;
  return expiry;
}

std::string encode_answer(const StoredAnswer& answer) {
  std::string out;
  put(out, kVersion);
  put(out, static_cast<std::uint8_t>(answer.form));
  put(out, answer.status);
  out += to_view(answer.binding);
  put(out, static_cast<std::uint64_t>(answer.expires_at_ms));
  put_sized(out, answer.text);
  put_sized(out, encode_row(answer.row));
  return out;
}

std::optional<StoredAnswer> decode_answer(std::string_view bytes) {
  Taker taker(bytes);
  if (taker.take<std::uint8_t>() != kVersion) return std::nullopt;
  const auto form = taker.take<std::uint8_t>();
  if (form > static_cast<std::uint8_t>(StoredAnswer::Form::kUnregistered)) return std::nullopt;
  StoredAnswer answer;
  answer.form = static_cast<StoredAnswer::Form>(form);
  answer.status = taker.take<std::uint16_t>();
  taker.take_id(answer.binding);
  answer.expires_at_ms = static_cast<std::int64_t>(taker.take<std::uint64_t>());
  answer.text = taker.take_sized();
  auto row = decode_row(taker.take_sized());
  if (!taker.good() || !taker.at_end() || !row) return std::nullopt;
  answer.row = *std::move(row);
  return answer;
}

std::string log_key(std::uint64_t generation, std::uint32_t chunk) {
  std::string key;
  put(key, generation);
  put(key, chunk);
  return key;
}

std::optional<std::uint64_t> generation_of_log_key(std::string_view key) {
  Taker taker(key);
  const auto generation = taker.take<std::uint64_t>();
  static_cast<void>(taker.take<std::uint32_t>());
  if (!taker.good() || !taker.at_end()) return std::nullopt;
  return generation;
}

std::string encode_changes(std::span<const LoggedChange> changes) {
  std::string out;
  put(out, kVersion);
  for (const auto& change : changes) {
    const bool is_dropped_view =
        change.kind == shm::RecordKind::kTombstone && change.dropped_kind == ObjectKind::kView;
    put(out, static_cast<std::uint8_t>(static_cast<unsigned>(change.kind) |
                                       (is_dropped_view ? kDroppedViewBit : 0U)));
    put(out, static_cast<std::uint16_t>(change.key.size()));
    out += change.key;
    const bool has_row =
        change.kind == shm::RecordKind::kTable || change.kind == shm::RecordKind::kView;
    put_sized(out, has_row ? encode_row(change.row) : std::string{});
  }
  return out;
}

bool decode_changes(std::string_view bytes, std::uint64_t generation,
                    std::vector<LoggedChange>& out) {
  Taker taker(bytes);
  if (taker.take<std::uint8_t>() != kVersion) return false;
  while (taker.good() && !taker.at_end()) {
    LoggedChange change;
    change.generation = generation;
    auto kind = taker.take<std::uint8_t>();
    if (kind == (static_cast<unsigned>(shm::RecordKind::kTombstone) | kDroppedViewBit)) {
      change.dropped_kind = ObjectKind::kView;
      kind = static_cast<std::uint8_t>(shm::RecordKind::kTombstone);
    }
    if (kind < static_cast<std::uint8_t>(shm::RecordKind::kTable) ||
        kind > static_cast<std::uint8_t>(shm::RecordKind::kNamespaceTombstone)) {
      return false;
    }
    change.kind = static_cast<shm::RecordKind>(kind);
    change.key = taker.take_bytes(taker.take<std::uint16_t>());
    if (const auto row = taker.take_sized(); !row.empty()) {
      auto decoded = decode_row(row);
      if (!decoded) return false;
      change.row = *std::move(decoded);
    }
    out.push_back(std::move(change));
  }
  return taker.good();
}

}  // namespace iceblink::daemon
