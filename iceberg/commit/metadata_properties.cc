#include "iceberg/commit/metadata_properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

constexpr std::array<std::string_view, 9> kReserved{
    kFormatVersionProperty, "uuid",
    "snapshot-count",       "current-snapshot-summary",
    "current-snapshot-id",  "current-snapshot-timestamp-ms",
    "current-schema",       "default-partition-spec",
    "default-sort-order",
};
constexpr std::string_view kPreviousVersionsMax = "write.metadata.previous-versions-max";
constexpr std::size_t kPreviousVersionsMaxDefault = 100;

/// All of it is one number, which fits.
std::optional<std::int32_t> parse_int32(std::string_view text) noexcept {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error no_number(const Property& property) {
  return {ErrorKind::kInvalidArgument, "the property " + std::string(property.key) + " is '" +
                                           std::string(property.value) + "', which is no integer"};
}

}  // namespace

bool is_reserved_property(std::string_view key) noexcept {
  return std::ranges::find(kReserved, key) != kReserved.end();
}

Result<std::int32_t> parse_format_version(std::string_view value) {
  if (const auto version = parse_int32(value)) return *version;
  return no_number({kFormatVersionProperty, value});
}

Status check_property(const Property& property) {
  if (property.key == kPreviousVersionsMax && !parse_int32(property.value)) {
    return no_number(property);
  }
  return Ok{};
}

std::size_t metadata_log_count_max(std::span<const Property> properties) noexcept {
  const auto text = find_property(properties, kPreviousVersionsMax);
  const auto value = text ? parse_int32(*text) : std::nullopt;
  if (!value) return kPreviousVersionsMaxDefault;
  return static_cast<std::size_t>(std::max(*value, 1));
}

bool deletes_after_commit(std::span<const Property> properties) noexcept {
  return is_true(properties, "write.metadata.delete-after-commit.enabled");
}

bool is_true(std::span<const Property> properties, std::string_view key) noexcept {
  return equals_ignoring_case(find_property(properties, key).value_or(""), "true");
}

void set_file_options(NewMetadata& metadata, std::span<const Property> properties) {
  const auto path =
      without_trailing_slashes(find_property(properties, "write.metadata.path").value_or(""));
  if (!path.empty()) metadata.metadata_path = path;
  const auto codec = find_property(properties, "write.metadata.compression-codec");
  metadata.is_gzip = equals_ignoring_case(codec.value_or(""), "gzip");
}

std::string_view without_trailing_slashes(std::string_view location) noexcept {
  while (location.ends_with('/') && !location.ends_with("://")) location.remove_suffix(1);
  return location;
}

}  // namespace iceblink::iceberg
