#include "iceberg/manifest/manifest_file.h"

#include <charconv>
#include <string>
#include <utility>

#include "iceberg/utf8.h"

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kShownBytesMax = 40;

Error no_such_value(std::string_view key, std::string_view text) {
  const std::string shown = on_one_line(text.substr(0, kShownBytesMax));
  return {ErrorKind::kCorrupt, {"the header's ", key, ": '", shown, "'"}};
}

/// Nothing: it is not there.
Result<std::optional<std::int32_t>> read_number(const avro::ContainerReader& reader,
                                                std::string_view key) {
  const auto text = reader.metadata(key);
  if (!text) return std::optional<std::int32_t>{};
  std::int32_t number = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return no_such_value(key, *text);
  return std::optional(number);
}

}  // namespace

Result<std::unique_ptr<avro::ContainerReader>> open_manifest_file(std::string_view file,
                                                                  const MetadataLimits& limits) {
  if (file.size() > limits.document_bytes_max) {
    return {ErrorKind::kTooLarge, "the file has " + std::to_string(file.size()) +
                                      " bytes, and document_bytes_max is " +
                                      std::to_string(limits.document_bytes_max)};
  }
  ICEBLINK_ASSIGN_OR_RETURN(auto reader, avro::ContainerReader::open(
                                             file, {.inflated_bytes_max = limits.inflated_bytes_max,
                                                    .elements_max = limits.elements_max}));
  ICEBLINK_ASSIGN_OR_RETURN(const auto version, read_number(*reader, "format-version"));
  if (version && *version > kManifestFormatVersionMax) {
    return {ErrorKind::kUnsupported, "format-version " + std::to_string(*version) +
                                         ", and this version reads up to " +
                                         std::to_string(kManifestFormatVersionMax)};
  }
  if (version && *version < 1) {
    return no_such_value("format-version", std::to_string(*version));
  }
  return reader;
}

Result<ManifestHeader> read_manifest_header(const avro::ContainerReader& reader) {
  ManifestHeader header;
  ICEBLINK_ASSIGN_OR_RETURN(header.partition_spec_id, read_number(reader, "partition-spec-id"));
  if (const auto content = reader.metadata("content")) {
    if (*content == "data") {
      header.content = ManifestContent::kData;
    } else if (*content == "deletes") {
      header.content = ManifestContent::kDeletes;
    } else {
      return no_such_value("content", *content);
    }
  }
  return header;
}

}  // namespace iceblink::iceberg
