// Metadata files that say of themselves which content they are.
#pragma once

#include <gtest/gtest.h>
#include <iceblink/metadata/table_metadata.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "iceberg/fingerprint.h"

namespace iceblink::testing {

/// Metadata of a table whose uuid and whose property "number" tell the number, of at least
/// `bytes`.
inline std::string numbered_metadata(std::uint64_t number, std::size_t bytes = 0) {
  char uuid[37];
  std::snprintf(uuid, sizeof(uuid), "00000000-0000-4000-8000-%012llu",
                static_cast<unsigned long long>(number));
  std::string text = R"({"format-version":2,"table-uuid":")" + std::string(uuid) + R"(",)" +
                     R"("location":"file:///w/t","last-sequence-number":0,
    "last-updated-ms":1700000000000,"last-column-id":1,"schemas":[{"type":"struct","schema-id":0,
    "fields":[{"id":1,"name":"a","required":true,"type":"long"}]}],"current-schema-id":0,
    "partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,
    "sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,
    "properties":{"number":")" +
                     std::to_string(number) + "\",\"padding\":\"";
  if (text.size() + 3 < bytes) text.append(bytes - text.size() - 3, 'x');
  return text + "\"}}";
}

/// The number that a document tells, twice over; its maximum for one that contradicts itself.
inline std::uint64_t number_of(const TableMetadata& metadata) {
  std::uint64_t by_uuid = 0;
  const auto uuid = metadata.table_uuid.value_or(std::array<std::uint8_t, 16>{});
  for (std::size_t i = 10; i < uuid.size(); ++i) {
    by_uuid = by_uuid * 100 + (uuid[i] >> 4) * 10U + (uuid[i] & 15U);
  }
  const auto property = find_property(metadata.properties, "number");
  return property && *property == std::to_string(by_uuid) ? by_uuid : ~std::uint64_t{0};
}

/// In one step: a reader sees the old file or the new one.
inline void put_file(const std::string& path, std::string_view text) {
  const std::string draft = path + ".draft." + std::to_string(::getpid());
  std::ofstream(draft, std::ios::binary | std::ios::trunc) << text;
  ASSERT_EQ(std::rename(draft.c_str(), path.c_str()), 0) << path;
}

inline iceberg::Fingerprint fingerprint_of(std::string_view text) {
  return iceberg::fingerprint_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace iceblink::testing
