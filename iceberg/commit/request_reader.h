// What the bodies of requests have in common: one JSON object, its members, and how errors are
// said.
//
// Readers of values report what is wrong to the JsonReader, which puts the member's path in front.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "iceberg/commit/commit_request.h"
#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// Reads a text as one JSON value, which `read` reads. The text is copied into the memory; a BOM is
/// passed over. kInvalidArgument: the first problem, among them half a surrogate pair in a string
/// wherever it stands, and a limit that is exceeded; kTooLarge: more than 4 GiB; kOutOfMemory.
class RequestText {
 public:
  explicit RequestText(RequestMemory& memory);
  ~RequestText();
  RequestText(const RequestText&) = delete;
  RequestText& operator=(const RequestText&) = delete;

  /// Of JSON as such. The reader is there if it succeeds.
  [[nodiscard]] Status begin(std::string_view body);
  [[nodiscard]] JsonReader& reader() noexcept;
  /// Of what has been read since.
  [[nodiscard]] Status finish();

 private:
  struct Parsing;
  RequestMemory& memory_;
  const std::unique_ptr<Parsing> parsing_;
};

/// A request whose object `read(reader, request)` reads.
template <typename Request, typename Read>
[[nodiscard]] Result<std::shared_ptr<const Request>> read_request(std::string_view body,
                                                                  Read read) noexcept try {
  const auto request = std::make_shared<Request>();
  RequestText text(*request);
  ICEBLINK_RETURN_IF_ERROR(text.begin(body));
  read(text.reader(), *request);
  ICEBLINK_RETURN_IF_ERROR(text.finish());
  return std::shared_ptr<const Request>(request);
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

/// An object of which one member counts, whose value `read(reader)` reads. Reported: it is missing,
/// or occurs twice.
template <typename Read>
[[nodiscard]] auto read_member(JsonReader& reader, std::string_view name, Read read) {
  decltype(read(reader)) value{};
  bool is_there = false;
  reader.read_object([&](std::string_view key) {
    if (key != name) return reader.skip();
    if (is_there) {
      reader.report("occurs twice");
      return reader.skip();
    }
    is_there = true;
    value = read(reader);
  });
  if (!is_there && reader.has_read_object()) reader.report("is missing", name);
  return value;
}

/// The text of the member that says what an object is, wherever in it that stands. Afterwards the
/// reader is in front of the object again.
[[nodiscard]] std::string_view read_kind(JsonReader& reader, std::string_view name);

/// An array of strings, of 64-bit integers.
[[nodiscard]] std::span<const std::string_view> read_strings(JsonReader& reader);
[[nodiscard]] std::span<const std::int64_t> read_long_ids(JsonReader& reader);

/// An object with namespace and name, validated.
[[nodiscard]] TableIdent read_identifier(JsonReader& reader);
/// A name, validated as far as it can be without its namespace.
[[nodiscard]] std::string_view read_name(JsonReader& reader);

/// A partition spec that need not have ids; null is absent.
[[nodiscard]] RequestedPartitionSpec read_requested_partition_spec(JsonReader& reader);

}  // namespace iceblink::iceberg
