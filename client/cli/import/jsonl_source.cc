#include "client/cli/import/jsonl_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <string_view>
#include <vector>

#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::int64_t kExportFormat = 1;
/// Properties may have a MiB, and each byte of them six of JSON.
constexpr std::size_t kLineBytesMax = std::size_t{8} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kReadBytes = std::size_t{256} << 10;

Error missing(const char* member, const char* what) {
  return {ErrorKind::kInvalidArgument, std::string("'") + member + "' is missing or not " + what};
}

Result<std::string> string_of(const json::object& object, const char* member) {
  const auto* const value = object.if_contains(member);
  if (value == nullptr || !value->is_string()) return missing(member, "a string");
  return std::string(value->get_string());
}

Result<Namespace> levels_of(const json::object& object) {
  const auto* const value = object.if_contains("namespace");
  if (value == nullptr || !value->is_array()) return missing("namespace", "a list of strings");
  Namespace levels;
  for (const auto& level : value->get_array()) {
    if (!level.is_string()) return missing("namespace", "a list of strings");
    levels.emplace_back(level.get_string());
  }
  return levels;
}

Result<SourceItem> namespace_of(const json::object& object) {
  FoundNamespace found;
  ICEBLINK_ASSIGN_OR_RETURN(found.levels, levels_of(object));
  const auto* const properties = object.if_contains("properties");
  if (properties == nullptr || properties->is_null()) return SourceItem(std::move(found));
  if (!properties->is_object()) return missing("properties", "an object of strings");
  for (const auto& [key, value] : properties->get_object()) {
    if (!value.is_string()) return missing("properties", "an object of strings");
    found.properties.emplace(std::string(key), std::string(value.get_string()));
  }
  return SourceItem(std::move(found));
}

Result<SourceItem> item_of(const json::object& object) {
  FoundObject found;
  if (object.contains("kind")) {
    ICEBLINK_ASSIGN_OR_RETURN(const std::string kind, string_of(object, "kind"));
    if (kind == "namespace") return namespace_of(object);
    if (kind == "view") {
      found.kind = ObjectKind::kView;
    } else if (kind != "table") {
      return {ErrorKind::kInvalidArgument,
              "'kind' is '" + kind + "', it must be table, view or namespace"};
    }
  }
  ICEBLINK_ASSIGN_OR_RETURN(found.ident.levels, levels_of(object));
  ICEBLINK_ASSIGN_OR_RETURN(found.ident.name, string_of(object, "name"));
  ICEBLINK_ASSIGN_OR_RETURN(found.metadata_location, string_of(object, "metadata-location"));
  if (const auto* const unverified = object.if_contains("unverified")) {
    if (!unverified->is_bool()) return missing("unverified", "true or false");
    found.is_unverified = unverified->get_bool();
  }
  return SourceItem(std::move(found));
}

class JsonlSource final : public Source {
 public:
  JsonlSource(int file, std::string name) : file_(file), name_(std::move(name)) {}
  ~JsonlSource() override {
    if (file_ != STDIN_FILENO) ::close(file_);
    if (stopped_ >= 0) ::close(stopped_);
  }
  JsonlSource(const JsonlSource&) = delete;
  JsonlSource& operator=(const JsonlSource&) = delete;

  void stop() noexcept override { ::eventfd_write(stopped_, 1); }

  Result<std::optional<SourceItem>> next() override {
    while (true) {
      ICEBLINK_ASSIGN_OR_RETURN(const bool is_there, read_line());
      if (!is_there) return std::optional<SourceItem>();
      ++number_;
      if (number_ == 1 && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
      if (is_too_long_)
        return unreadable("longer than " + std::to_string(kLineBytesMax) + " bytes");
      if (line_.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      json::monotonic_resource memory(scratch_.data(), scratch_.size());
      boost::system::error_code failed;
      const auto value = json::parse(line_, failed, &memory);
      if (failed) return unreadable("is not JSON: " + failed.message());
      if (!value.is_object()) return unreadable("is not a JSON object");
      const auto& object = value.get_object();
      if (const auto* const format = object.if_contains("iceblink-export")) {
        if (format->is_int64() && format->get_int64() == kExportFormat) continue;
        return Error{ErrorKind::kIncompatible,
                     name_ + ": an export of another format than " + std::to_string(kExportFormat)};
      }
      auto item = item_of(object);
      if (!item) return unreadable(item.error().message());
      return std::optional(std::move(*item));
    }
  }

 private:
  std::optional<SourceItem> unreadable(const std::string& why) const {
    return SourceItem(Unreadable{Error(ErrorKind::kInvalidArgument,
                                       name_ + ": line " + std::to_string(number_) + ": " + why)});
  }

  // Into line_; false at the end. Of a line that is too long only its beginning.
  Result<bool> read_line() {
    line_.clear();
    is_too_long_ = false;
    while (true) {
      if (unread_.empty()) {
        ICEBLINK_ASSIGN_OR_RETURN(const std::size_t count, read_block());
        if (count == 0) return !line_.empty() || is_too_long_;
        unread_ = {block_.data(), count};
      }
      const auto end = unread_.find('\n');
      const auto part = unread_.substr(0, end);
      is_too_long_ = is_too_long_ || line_.size() + part.size() > kLineBytesMax;
      if (!is_too_long_) line_ += part;
      unread_.remove_prefix(end == std::string_view::npos ? unread_.size() : end + 1);
      if (end != std::string_view::npos) return true;
    }
  }

  // 0 at the end, and when it was stopped while it waited for whoever writes.
  Result<std::size_t> read_block() {
    while (true) {
      pollfd ends[2] = {{file_, POLLIN, 0}, {stopped_, POLLIN, 0}};
      if (::poll(ends, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return shm::system_error(name_, errno);
      }
      if (ends[1].revents != 0) return std::size_t{0};
      const auto count = ::read(file_, block_.data(), block_.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR && errno != EAGAIN) return shm::system_error(name_, errno);
    }
  }

  const int file_;
  const int stopped_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const std::string name_;
  std::uint64_t number_ = 0;
  std::vector<char> block_ = std::vector<char>(kReadBytes);
  std::string_view unread_;  // of block_
  std::string line_;
  bool is_too_long_ = false;
  std::array<unsigned char, 16 * 1024> scratch_{};
};

}  // namespace

Result<std::unique_ptr<Source>> open_jsonl(const std::string& path) {
  const bool is_stdin = path == "-";
  const int file = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return shm::system_error(path, errno);
  const std::string name = is_stdin ? "standard input" : path;
  return std::unique_ptr<Source>(std::make_unique<JsonlSource>(file, name));
}

}  // namespace iceblink::cli
