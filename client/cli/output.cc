#include "client/cli/output.h"

#include <array>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <ctime>
#include <utility>

#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

void put(std::FILE* stream, std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fflush(stream);
}

std::string_view op_of(const TableChange& change) {
  return change.op == TableChange::Op::kDrop ? "drop" : "put";
}

std::string_view kind_of(const TableChange& change) {
  switch (change.kind) {
    case ObjectKind::kTable:
      return "table";
    case ObjectKind::kView:
      return "view";
    case ObjectKind::kNamespace:
      return "namespace";
  }
  return "object";
}

}  // namespace

void print_line(std::string_view text) {
  // Names may hold control characters; a line stays one, and a terminal is told nothing.
  put(stdout, on_one_line(text));
}

void print_json(const boost::json::value& value) {
  put(stdout, boost::json::serialize(value));
}

void print_json(std::string text) {
  put(stdout, std::move(text));
}

void LineBuffer::add(std::string_view line) {
  constexpr std::size_t kEnoughBytes = std::size_t{64} << 10;
  text_.append(line).append("\n");
  if (text_.size() < kEnoughBytes) return;
  write();
  text_.clear();
}

void LineBuffer::write() noexcept {
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  std::fflush(stdout);
}

void print_error(std::string_view message) {
  put(stderr, "iceblink: " + on_one_line(message));
}

ExitCode usage_error(const Error& error) {
  print_error(error.message());
  return ExitCode::kUsage;
}

boost::json::array to_json(const std::vector<std::string>& names) {
  boost::json::array list;
  for (const auto& name : names) list.emplace_back(name);
  return list;
}

boost::json::object to_json(const TableChange& change) {
  boost::json::object object{{"generation", change.generation},
                             {"op", op_of(change)},
                             {"kind", kind_of(change)},
                             {"namespace", to_json(change.levels)}};
  if (change.kind != ObjectKind::kNamespace) object["name"] = change.name;
  if (!change.metadata_location.empty()) object["metadata-location"] = change.metadata_location;
  return object;
}

std::string to_text(const TableChange& change) {
  std::string line = std::to_string(change.generation);
  line.append(" ").append(op_of(change)).append(" ").append(kind_of(change)).append(" ");
  line += change.kind == ObjectKind::kNamespace ? format(change.levels)
                                                : format(TableIdent{change.levels, change.name});
  if (!change.metadata_location.empty()) line.append(" ").append(change.metadata_location);
  return line;
}

std::string to_utc(std::uint64_t seconds_since_1970) {
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace iceblink::cli
