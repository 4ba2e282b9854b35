// Locations: the first line is one, each of the others a "FROM=TO" of a map.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/location.h"
#include "iceberg/location_map.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

void check_local_path(const std::string& location) {
  const auto scheme = iceberg::scheme_of(location);
  const auto path = iceberg::local_path(location);
  if (!path) {
    const auto kind = path.error().kind();
    fuzz_check(kind == ErrorKind::kUnsupported || kind == ErrorKind::kInvalidArgument,
               "an error is of a kind that is promised", to_string(kind));
    fuzz_check(kind != ErrorKind::kUnsupported || scheme, "only schemes are unsupported", location);
    return;
  }
  fuzz_check(path->starts_with('/'), "a path is absolute", location);
  fuzz_check(path->find('\0') == std::string::npos, "a path has no NUL", location);
  if (!scheme) {
    fuzz_check(*path == location, "an absolute path stands for itself", location);
    return;
  }
  fuzz_check(iceberg::is_same_scheme(*scheme, "FILE"), "only file: is local", location);
  if (location.find('%') == std::string::npos) {
    fuzz_check(location.ends_with(*path), "without escapes a path is the URI's end", location);
  }
  fuzz_check(*iceberg::local_path(*path) == *path, "a path is a location");
}

std::string without_end_slashes(std::string text) {
  while (text.ends_with('/') && !text.ends_with("://")) text.pop_back();
  return text;
}

/// Whether the mapping is for the location, as it is documented: whole path parts.
bool is_for(const LocationPrefix& mapping, const std::string& location) {
  const std::string from = without_end_slashes(mapping.from);
  return location == from || location.starts_with(from.ends_with("://") ? from : from + '/');
}

void check_map(const std::string& location, const std::vector<LocationPrefix>& mappings) {
  const auto map = iceberg::LocationMap::of(mappings);
  if (!map) {
    fuzz_check(map.error().kind() == ErrorKind::kInvalidArgument,
               "an error is of a kind that is promised", to_string(map.error().kind()));
    return;
  }
  fuzz_check(map->is_empty() == mappings.empty(), "a map holds what it was given");
  const LocationPrefix* longest = nullptr;
  for (const auto& mapping : mappings) {
    if (!is_for(mapping, location)) continue;
    const auto bytes = without_end_slashes(mapping.from).size();
    if (longest == nullptr || bytes > without_end_slashes(longest->from).size()) longest = &mapping;
  }
  const std::string mapped = map->map(location);
  if (longest == nullptr) {
    fuzz_check(mapped == location, "what no prefix is for stays", mapped);
    return;
  }
  fuzz_check(!mapped.empty() && mapped.starts_with(without_end_slashes(longest->to)),
             "a prefix leads where it says", mapped);
  const std::string rest = location.substr(without_end_slashes(longest->from).size());
  const auto first = rest.find_first_not_of('/');
  if (first != std::string::npos) {
    fuzz_check(mapped.ends_with(rest.substr(first)), "the rest stays", mapped);
  }
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink;
  if (size > 4096) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string location(input.substr(0, input.find('\n')));
  test::check_local_path(location);
  std::vector<LocationPrefix> mappings;
  for (auto at = input.find('\n'); at != std::string_view::npos && mappings.size() < 16;) {
    const auto end = input.find('\n', at + 1);
    const auto line = input.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const auto mapping = iceberg::parse_location_prefix(line);
    if (mapping) {
      test::fuzz_check(mapping->from + "=" + mapping->to == line, "a mapping is split, no more");
      mappings.push_back(*mapping);
    } else if (const auto split = line.find(':'); split != std::string_view::npos) {
      mappings.push_back({std::string(line.substr(0, split)), std::string(line.substr(split + 1))});
    }
    at = end;
  }
  test::check_map(location, mappings);
  return 0;
}
