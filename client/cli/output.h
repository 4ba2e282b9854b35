// What the program prints: answers on standard output, one line per error on standard error.
#pragma once

#include <iceblink/change.h>
#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/exit_code.h"

namespace iceblink::cli {

/// Control characters as \xNN.
void print_line(std::string_view text);
/// One document, one line.
void print_json(const boost::json::value& value);
/// The same for a text that is JSON, on one line.
void print_json(std::string text);

/// Many lines, as they are given: written once enough have come together, and at the end.
class LineBuffer {
 public:
  LineBuffer() = default;
  ~LineBuffer() { write(); }
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  void add(std::string_view line);

 private:
  void write() noexcept;

  std::string text_;
};

/// "iceblink: …", on one line whatever the message holds.
void print_error(std::string_view message);

/// Prints the error of a command line that cannot be meant.
[[nodiscard]] ExitCode usage_error(const Error& error);

[[nodiscard]] boost::json::array to_json(const std::vector<std::string>& names);
[[nodiscard]] boost::json::object to_json(const TableChange& change);
/// "12 put table a.b.t s3://…"
[[nodiscard]] std::string to_text(const TableChange& change);
/// "2026-01-31T12:00:00Z"
[[nodiscard]] std::string to_utc(std::uint64_t seconds_since_1970);

}  // namespace iceblink::cli
