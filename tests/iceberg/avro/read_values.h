// What tests want of a file: all of its records, as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/avro/container_reader.h"

namespace iceblink::iceberg::testing {

/// As JSON has it, but for maps, which are lists of keys and values, and for bytes, as they are.
inline std::string text_of(const avro::Value& value) {
  using avro::Kind;
  switch (value.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case Kind::kInt:
    case Kind::kLong:
      return std::to_string(value.integer);
    case Kind::kEnum:
      return '#' + std::to_string(value.integer);
    case Kind::kFloat:
    case Kind::kDouble:
      return std::to_string(value.number);
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
      return '"' + std::string(value.bytes) + '"';
    case Kind::kRecord:
    case Kind::kArray:
    case Kind::kMap:
      break;
    case Kind::kUnion:
      return "a union";
  }
  std::string text;
  for (const avro::Value& child : value.children)
    text += (text.empty() ? "" : ",") + text_of(child);
  const bool is_array = value.kind == Kind::kArray;
  const bool is_map = value.kind == Kind::kMap;
  return (is_array ? "[" : is_map ? "<" : "{") + text + (is_array ? "]" : is_map ? ">" : "}");
}

/// The records up to the end or the first error.
struct ReadFile {
  std::vector<std::string> records;
  std::string error;  // empty: none
  ErrorKind kind = ErrorKind::kInternal;
  std::size_t scratch_bytes = 0;  // at the end
};

inline ReadFile read_all(std::string_view file, const avro::ReaderLimits& limits = {},
                         const std::vector<bool>& wanted = {}) {
  ReadFile read;
  const auto failed = [&](const Error& error) {
    read.error = error.message();
    read.kind = error.kind();
    return read;
  };
  auto reader = avro::ContainerReader::open(file, limits);
  if (!reader) return failed(reader.error());
  if (!wanted.empty()) (*reader)->project(wanted);
  while (true) {
    const auto record = (*reader)->next();
    read.scratch_bytes = (*reader)->scratch_bytes();
    if (!record) return failed(record.error());
    if (*record == nullptr) return read;
    read.records.push_back(text_of(**record));
  }
}

}  // namespace iceblink::iceberg::testing
