#include "tests/faults/warehouse_judge.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace iceblink::test {
namespace {

std::string problem_of(const std::filesystem::path& path) {
  if (!path.filename().string().ends_with(".metadata.json")) return "left: " + path.string();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  boost::system::error_code error;
  const auto json = boost::json::parse(text, error);
  if (error || !json.is_object() || !json.as_object().contains("table-uuid")) {
    return "not whole: " + path.string();
  }
  return {};
}

}  // namespace

std::string WarehouseJudge::judge() {
  std::string wrong;
  if (!std::filesystem::exists(directory_)) return wrong;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
    if (entry.is_directory() || !files_.insert(entry.path().string()).second) continue;
    wrong += problem_of(entry.path());
  }
  return wrong;
}

std::size_t WarehouseJudge::unnamed_count() const {
  return static_cast<std::size_t>(std::count_if(
      files_.begin(), files_.end(), [&](const auto& file) { return !named_.contains(file); }));
}

}  // namespace iceblink::test
