// Writes over the socket. One operation is a batch of one: it has no name in a URL to be read in
// two ways, and its answer does not carry a table's metadata.
#include <boost/json/parse.hpp>

#include "client/catalog_state.h"
#include "client/guard.h"
#include "client/plain_text.h"
#include "client/wire.h"

namespace iceblink {
namespace {

using client::Effect;
using client::Request;

constexpr std::string_view kBatchTarget = "/iceblink/v1/batch";
constexpr std::string_view kLineOne = "line 1: ";

Result<Properties> properties_of(const Request& request, const std::string& text) {
  const Error not_understood(ErrorKind::kInternal,
                             "GET " + request.target + ": the answer cannot be understood");
  boost::system::error_code failed;
  const auto body = boost::json::parse(text, failed);
  if (failed || !body.is_object()) return not_understood;
  const auto* members = body.get_object().if_contains("properties");
  Properties properties;
  if (members == nullptr || members->is_null()) return properties;
  if (!members->is_object()) return not_understood;
  for (const auto& [key, value] : members->get_object()) {
    if (!value.is_string()) return not_understood;
    properties.emplace(std::string(key), std::string(value.get_string()));
  }
  return properties;
}

}  // namespace

Result<std::uint64_t> Catalog::State::write(const Request& request) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto answer, daemon.call(request, options.write_deadline));
  if (!client::is_success(answer)) return client::error_of(request, answer);
  if (answer.generation) return *answer.generation;
  // An answer comes after the publish, so the segment has it.
  const shm::Segment::Section section(*segment);
  return section.ok() ? section.generation() : 0;
}

Result<std::uint64_t> Catalog::State::write(const Batch& batch) {
  return write(Request{.method = "POST",
                       .target = std::string(kBatchTarget),
                       .content_type = "application/x-ndjson",
                       .body = batch.json_lines(),
                       .effect = Effect::kWrite});
}

Result<std::uint64_t> Catalog::State::write_one(const Batch& batch) {
  auto done = write(batch);
  if (done || !done.error().message().starts_with(kLineOne)) return done;
  return {done.error().kind(), done.error().message().substr(kLineOne.size())};
}

Result<std::uint64_t> Catalog::create_namespace(const Namespace& levels,
                                                const Properties& properties) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(levels));
    return state_->write_one(Batch().create_namespace(levels, properties));
  });
}

Result<std::uint64_t> Catalog::drop_namespace(const Namespace& levels) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(levels));
    return state_->write_one(Batch().drop_namespace(levels));
  });
}

Result<std::uint64_t> Catalog::update_properties(const Namespace& levels,
                                                 const std::vector<std::string>& removals,
                                                 const Properties& updates) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(levels));
    std::string body = R"({"removals":)";
    client::append_json_names(body, removals);
    body += R"(,"updates":)";
    client::append_json_properties(body, updates);
    body += '}';
    return state_->write(Request{.method = "POST",
                                 .target = client::namespace_path(levels) + "/properties",
                                 .body = std::move(body),
                                 .effect = Effect::kWrite});
  });
}

Result<Properties> Catalog::namespace_properties(const Namespace& levels) const noexcept {
  return client::guarded([&]() -> Result<Properties> {
    ICEBLINK_RETURN_IF_ERROR(client::check(levels));
    const Request request{.method = "GET", .target = client::namespace_path(levels)};
    ICEBLINK_ASSIGN_OR_RETURN(const auto answer,
                              state_->daemon.call(request, state_->options.write_deadline));
    if (!client::is_success(answer)) return client::error_of(request, answer);
    return properties_of(request, answer.body);
  });
}

Result<std::uint64_t> Catalog::register_table(const TableIdent& ident, const std::string& location,
                                              RegisterOptions options) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(ident));
    return state_->write_one(Batch().register_table(ident, location, options));
  });
}

Result<std::uint64_t> Catalog::move_table(const TableIdent& ident,
                                          const std::string& expected_location,
                                          const std::string& new_location,
                                          RegisterOptions::Verification verification) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(ident));
    return state_->write_one(
        Batch().move_table(ident, expected_location, new_location, verification));
  });
}

Result<std::uint64_t> Catalog::drop_table(const TableIdent& ident) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(ident));
    return state_->write_one(Batch().drop_table(ident));
  });
}

Result<std::uint64_t> Catalog::rename_table(const TableIdent& from, const TableIdent& to) noexcept {
  return client::guarded([&]() -> Result<std::uint64_t> {
    ICEBLINK_RETURN_IF_ERROR(client::check(from));
    ICEBLINK_RETURN_IF_ERROR(client::check(to));
    return state_->write_one(Batch().rename_table(from, to));
  });
}

Result<std::uint64_t> Catalog::apply(const Batch& batch) noexcept {
  return client::guarded([&] { return state_->write(batch); });
}

}  // namespace iceblink
