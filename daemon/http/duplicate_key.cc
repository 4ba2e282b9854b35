#include "daemon/http/duplicate_key.h"

#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace iceblink::daemon::http {
namespace {

namespace json = boost::json;

/// What json::basic_parser calls; its names and signatures.
class KeyWatcher {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;

  bool on_object_begin(json::error_code& /*error*/) {
    objects_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t /*count*/, json::error_code& /*error*/) {
    objects_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t /*size*/, json::error_code& /*error*/) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view rest, std::size_t /*size*/, json::error_code& error) {
    key_.append(rest.data(), rest.size());
    std::string key = std::exchange(key_, {});
    if (objects_.back().insert(key).second) return true;
    duplicate_ = std::move(key);
    error = json::error::syntax;  // any: it only ends the parse
    return false;
  }

  bool on_document_begin(json::error_code& /*error*/) { return true; }
  bool on_document_end(json::error_code& /*error*/) { return true; }
  bool on_array_begin(json::error_code& /*error*/) { return true; }
  bool on_array_end(std::size_t /*count*/, json::error_code& /*error*/) { return true; }
  bool on_string_part(json::string_view, std::size_t, json::error_code& /*error*/) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code& /*error*/) { return true; }
  bool on_number_part(json::string_view, json::error_code& /*error*/) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code& /*error*/) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code& /*error*/) { return true; }
  bool on_double(double, json::string_view, json::error_code& /*error*/) { return true; }
  bool on_bool(bool, json::error_code& /*error*/) { return true; }
  bool on_null(json::error_code& /*error*/) { return true; }
  bool on_comment_part(json::string_view, json::error_code& /*error*/) { return true; }
  bool on_comment(json::string_view, json::error_code& /*error*/) { return true; }

  [[nodiscard]] const std::optional<std::string>& duplicate() const noexcept { return duplicate_; }

 private:
  std::vector<std::unordered_set<std::string>> objects_;  // the keys of those that are open
  std::string key_;                                       // as far as it was read
  std::optional<std::string> duplicate_;
};

}  // namespace

std::optional<std::string> find_duplicate_key(std::string_view text, std::size_t depth_max) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::basic_parser<KeyWatcher> parser(options);
  json::error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return parser.handler().duplicate();
}

}  // namespace iceblink::daemon::http
