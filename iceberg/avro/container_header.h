// The header of an Avro object container file.
//
// Thread safety: pure functions, immutable values.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::iceberg::avro {

enum class Codec : std::uint8_t { kNull, kDeflate };

inline constexpr std::size_t kSyncBytes = 16;

/// Views are of the file.
struct ContainerHeader {
  std::vector<std::pair<std::string_view, std::string_view>> metadata;  // by key
  std::string_view schema;
  Codec codec = Codec::kNull;
  std::string_view sync;  // of kSyncBytes
  std::size_t bytes = 0;  // the first block begins there

  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
};

/// Errors as ContainerReader::open(), but for what is wrong with the schema. Throws std::bad_alloc.
[[nodiscard]] Result<ContainerHeader> read_header(std::string_view file);

}  // namespace iceblink::iceberg::avro
