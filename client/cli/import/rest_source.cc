#include "client/cli/import/rest_source.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/import/rest_client.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kPage = "pageSize=1000&pageToken=";
constexpr std::string_view kDefaultSeparator = "%1F";
/// Against a catalog whose pages, or whose namespaces, have no end: pages that follow each other
/// without a new name, and children of one namespace.
constexpr std::size_t kEmptyPagesMax = 1'000;
constexpr std::size_t kChildrenMax = 1'000'000;
constexpr std::size_t kLevelsMax = 256;

const json::object* object_at(const json::object& object, std::string_view member) {
  const auto* const value = object.if_contains({member.data(), member.size()});
  return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

std::optional<std::string> string_at(const json::object& object, std::string_view member) {
  const auto* const value = object.if_contains({member.data(), member.size()});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

/// What the configuration says: its overrides win over its defaults.
std::optional<std::string> setting(const json::object& config, std::string_view name) {
  for (const char* part : {"overrides", "defaults"}) {
    const auto* const values = object_at(config, part);
    if (values == nullptr) continue;
    if (auto value = string_at(*values, name)) return value;
  }
  return std::nullopt;
}

std::optional<Namespace> levels_of(const json::value& value) {
  if (!value.is_array()) return std::nullopt;
  Namespace levels;
  for (const auto& level : value.get_array()) {
    if (!level.is_string()) return std::nullopt;
    levels.emplace_back(level.get_string());
  }
  return levels;
}

/// Whether it can stand in a URL's path as it is.
bool is_path_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 127 && c != '?' && c != '#'; });
}

/// From one page to the next.
class Paging {
 public:
  [[nodiscard]] const std::string& token() const noexcept { return token_; }
  /// Whether there is another page behind `answer`, which had `name_count` names. kIncompatible:
  /// the pages do not go on.
  Result<bool> go_on(const json::object& answer, std::size_t name_count) {
    const auto next = string_at(answer, "next-page-token");
    if (!next || next->empty()) return false;
    std::string token = url_encoded(*next);
    empty_pages_ = name_count == 0 ? empty_pages_ + 1 : 0;
    if (token == token_ || empty_pages_ > kEmptyPagesMax) {
      return Error{ErrorKind::kIncompatible, "the catalog's pages do not go on"};
    }
    token_ = std::move(token);
    return true;
  }

 private:
  std::string token_;  // url-encoded
  std::size_t empty_pages_ = 0;
};

class RestSource final : public Source {
 public:
  RestSource(std::unique_ptr<RestClient> client, std::string root, std::string separator)
      : client_(std::move(client)), root_(std::move(root)), separator_(std::move(separator)) {}

  Result<std::optional<SourceItem>> next() override {
    while (true) {
      if (!ready_.empty()) {
        SourceItem item = std::move(ready_.front());
        ready_.pop_front();
        return std::optional(std::move(item));
      }
      if (!to_load_.empty()) {
        const FoundObject object = std::move(to_load_.front());
        to_load_.pop_front();
        ICEBLINK_RETURN_IF_ERROR(load(object));
      } else if (listing_) {
        ICEBLINK_RETURN_IF_ERROR(list_on());
      } else if (!has_begun_) {
        has_begun_ = true;
        ICEBLINK_RETURN_IF_ERROR(list_children({}));
      } else if (!waiting_.empty()) {
        const Namespace levels = std::move(waiting_.back());
        waiting_.pop_back();
        ICEBLINK_RETURN_IF_ERROR(visit(levels));
      } else {
        return std::optional<SourceItem>();
      }
    }
  }

  void stop() noexcept override { client_->stop(); }

 private:
  /// A listing of tables or views under way: a page at a time, as they are loaded.
  struct Listing {
    Namespace levels;
    ObjectKind kind = ObjectKind::kTable;
    Paging paging;
  };

  std::string encoded(const Namespace& levels) const {
    std::string text;
    for (const auto& level : levels) {
      if (!text.empty()) text += separator_;
      text += url_encoded(level);
    }
    return text;
  }
  std::string path_of(const Namespace& levels) const {
    return root_ + "/namespaces/" + encoded(levels);
  }

  /// Nothing that is wrong with one name ends the import; a catalog that is away does.
  Status pass_over(const std::string& name, const Error& error) {
    switch (error.kind()) {
      case ErrorKind::kBusy:
      case ErrorKind::kTimedOut:
      case ErrorKind::kIo:
      case ErrorKind::kOutOfMemory:
        return error;
      default:
        ready_.emplace_back(Unreadable{Error(error.kind(), name + ": " + error.message())});
        return Ok{};
    }
  }

  Status visit(const Namespace& levels) {
    auto answer = client_->get(path_of(levels));
    if (!answer) {
      ICEBLINK_RETURN_IF_ERROR(pass_over("namespace " + format(levels), answer.error()));
    } else {
      FoundNamespace found{levels, {}};
      if (const auto* const properties = object_at(*answer, "properties")) {
        for (const auto& [key, value] : *properties) {
          if (value.is_string()) found.properties.emplace(key, value.get_string());
        }
      }
      ready_.emplace_back(std::move(found));
    }
    ICEBLINK_RETURN_IF_ERROR(list_children(levels));
    listing_ = Listing{levels, ObjectKind::kTable, {}};
    return Ok{};
  }

  Status list_children(const Namespace& parent) {
    std::vector<Namespace> children;
    const Status listed = list_children(parent, children);
    waiting_.insert(waiting_.end(), std::make_move_iterator(children.rbegin()),
                    std::make_move_iterator(children.rend()));
    if (listed || parent.empty()) return listed;
    return pass_over("namespaces below " + format(parent), listed.error());
  }

  Status list_children(const Namespace& parent, std::vector<Namespace>& children) {
    Paging paging;
    while (true) {
      std::string path = root_ + "/namespaces?" + std::string(kPage) + paging.token();
      if (!parent.empty()) path += "&parent=" + encoded(parent);
      ICEBLINK_ASSIGN_OR_RETURN(const auto answer, client_->get(path));
      const std::size_t count_before = children.size();
      const auto* const list = answer.if_contains("namespaces");
      if (list != nullptr && list->is_array()) {
        for (const auto& value : list->get_array()) {
          auto levels = levels_of(value);
          // Of a catalog that does not know `parent`, the root's come again.
          const bool is_child = levels && levels->size() == parent.size() + 1 &&
                                levels->size() <= kLevelsMax &&
                                std::equal(parent.begin(), parent.end(), levels->begin());
          if (is_child) children.push_back(std::move(*levels));
        }
      }
      if (children.size() > kChildrenMax) {
        return {ErrorKind::kTooLarge, "more than " + std::to_string(kChildrenMax) + " namespaces"};
      }
      ICEBLINK_ASSIGN_OR_RETURN(const bool goes_on,
                                paging.go_on(answer, children.size() - count_before));
      if (!goes_on) return Ok{};
    }
  }

  Status list_on() {
    Listing& listing = *listing_;
    const bool is_view = listing.kind == ObjectKind::kView;
    auto answer = client_->get(path_of(listing.levels) + (is_view ? "/views?" : "/tables?") +
                               std::string(kPage) + listing.paging.token());
    if (!answer) {
      const Error error = answer.error();
      const Namespace levels = listing.levels;
      end_listing();
      const bool has_no_views = is_view && (error.kind() == ErrorKind::kNotFound ||
                                            error.kind() == ErrorKind::kUnsupported);
      if (has_no_views) return Ok{};
      return pass_over((is_view ? "views of " : "tables of ") + format(levels), error);
    }
    std::size_t name_count = 0;
    const auto* const list = answer->if_contains("identifiers");
    if (list != nullptr && list->is_array()) {
      for (const auto& value : list->get_array()) {
        const auto name = value.is_object() ? string_at(value.get_object(), "name") : std::nullopt;
        if (!name) continue;
        to_load_.push_back({listing.kind, {listing.levels, *name}, {}});
        ++name_count;
      }
    }
    const auto goes_on = listing.paging.go_on(*answer, name_count);
    if (goes_on && *goes_on) return Ok{};
    const std::string name = (is_view ? "views of " : "tables of ") + format(listing.levels);
    end_listing();
    return goes_on ? Status(Ok{}) : pass_over(name, goes_on.error());
  }

  void end_listing() {
    if (listing_->kind == ObjectKind::kTable) {
      Listing views;
      views.levels = std::move(listing_->levels);
      views.kind = ObjectKind::kView;
      listing_ = std::move(views);
    } else {
      listing_.reset();
    }
  }

  Status load(FoundObject object) {
    const bool is_view = object.kind == ObjectKind::kView;
    auto answer = client_->get(path_of(object.ident.levels) + (is_view ? "/views/" : "/tables/") +
                               url_encoded(object.ident.name) + (is_view ? "" : "?snapshots=refs"));
    const std::string name = (is_view ? "view " : "table ") + format(object.ident);
    if (!answer) return pass_over(name, answer.error());
    auto location = string_at(*answer, "metadata-location");
    if (!location) {
      ready_.emplace_back(Unreadable{Error(
          ErrorKind::kIncompatible, name + ": the catalog does not say its metadata location")});
      return Ok{};
    }
    object.metadata_location = std::move(*location);
    ready_.emplace_back(std::move(object));
    return Ok{};
  }

  const std::unique_ptr<RestClient> client_;
  const std::string root_;
  const std::string separator_;  // url-encoded
  bool has_begun_ = false;
  std::vector<Namespace> waiting_;  // the next is the last
  std::optional<Listing> listing_;
  std::deque<FoundObject> to_load_;
  std::deque<SourceItem> ready_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_rest(const RestOptions& options) {
  ICEBLINK_ASSIGN_OR_RETURN(auto client, RestClient::make(options));
  std::string path = "/v1/config";
  if (options.warehouse) path += "?warehouse=" + url_encoded(*options.warehouse);
  ICEBLINK_ASSIGN_OR_RETURN(const auto config, client->get(path));
  std::string root = "/v1";
  if (const auto prefix = setting(config, "prefix"); prefix && !prefix->empty()) {
    root += "/" + *prefix;
  }
  std::string separator =
      setting(config, "namespace-separator").value_or(std::string(kDefaultSeparator));
  // Some catalogs say it in its decoded form.
  if (!separator.starts_with('%')) separator = url_encoded(separator);
  if (!is_path_text(root) || !is_path_text(separator)) {
    return {ErrorKind::kIncompatible,
            "GET " + path + ": the catalog's prefix or namespace-separator cannot be in a URL"};
  }
  return std::unique_ptr<Source>(
      std::make_unique<RestSource>(std::move(client), std::move(root), std::move(separator)));
}

}  // namespace iceblink::cli
