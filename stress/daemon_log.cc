#include "stress/daemon_log.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "client/wire.h"
#include "shm/layout.h"

namespace iceblink::stress {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kDeadline{10'000};
constexpr std::uint64_t kChangesPerPart = 5000;

Result<Change> change_of(const KeySpace& keys, const json::object& object) {
  Namespace levels;
  for (const auto& level : object.at("namespace").as_array()) {
    levels.emplace_back(level.as_string());
  }
  const std::string kind(object.at("kind").as_string());
  const auto* const op = object.if_contains("op");
  const bool is_there = op == nullptr || op->as_string() == "put";
  if (kind == "namespace") {
    const auto key = keys.find_namespace(levels.front());
    if (levels.size() == 1 && key) return Change{*key, is_there ? Value{1} : kAbsent};
  } else {
    const TableIdent ident{levels, std::string(object.at("name").as_string())};
    if (const auto key = keys.find_object(ident)) {
      if (!is_there) return Change{*key, kAbsent};
      const std::string location(object.at("metadata-location").as_string());
      return Change{*key, value_of_location(
                              location, kind == "view" ? ObjectKind::kView : ObjectKind::kTable)};
    }
  }
  return {ErrorKind::kCorrupt, "the store has what nobody made: " + json::serialize(object)};
}

}  // namespace

DaemonLog::DaemonLog(const KeySpace& keys, const std::string& runtime_dir)
    : keys_(keys), daemon_(runtime_dir + "/" + shm::kSocketName) {}

Result<DaemonLog::Part> DaemonLog::after(std::uint64_t generation) {
  const client::Request request{
      .method = "GET",
      .target = "/iceblink/v1/changes?since=" + std::to_string(generation) +
                "&limit=" + std::to_string(kChangesPerPart)};
  ICEBLINK_ASSIGN_OR_RETURN(const auto answer, daemon_.call(request, kDeadline));
  if (!client::is_success(answer)) return client::error_of(request, answer);
  try {
    const auto body = json::parse(answer.body).as_object();
    Part part;
    part.reached = body.at("generation").to_number<std::uint64_t>();
    part.has_more = body.at("more").as_bool();
    for (const auto& item : body.at("changes").as_array()) {
      ICEBLINK_ASSIGN_OR_RETURN(const Change change, change_of(keys_, item.as_object()));
      part.generations[item.as_object().at("generation").to_number<std::uint64_t>()].push_back(
          change);
    }
    return part;
  } catch (const std::exception& error) {
    return {ErrorKind::kInternal, request.target + ": " + error.what()};
  }
}

Result<DaemonLog::Listing> DaemonLog::objects() {
  const client::Request request{.method = "GET", .target = "/iceblink/v1/objects"};
  ICEBLINK_ASSIGN_OR_RETURN(const auto answer, daemon_.call(request, kDeadline));
  if (!client::is_success(answer)) return client::error_of(request, answer);
  try {
    const auto body = json::parse(answer.body).as_object();
    if (!body.at("next").is_null()) return {ErrorKind::kInternal, "objects of more than one page"};
    Listing listing;
    listing.generation = body.at("generation").to_number<std::uint64_t>();
    for (const auto& item : body.at("objects").as_array()) {
      ICEBLINK_ASSIGN_OR_RETURN(const Change object, change_of(keys_, item.as_object()));
      listing.values[object.key] = object.value;
    }
    return listing;
  } catch (const std::exception& error) {
    return {ErrorKind::kInternal, request.target + ": " + error.what()};
  }
}

}  // namespace iceblink::stress
