// A daemon in the fuzzer's own process, which is sent the bytes of a connection.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/instance.h"
#include "tests/fuzz/scratch_directory.h"

namespace iceblink::test {

/// A final answer, as it came.
struct Answer {
  unsigned status = 0;
  std::vector<std::string> fields;  // "name: value", names in lower case
  std::string body;

  [[nodiscard]] std::string field(std::string_view name) const;
  [[nodiscard]] bool closes() const { return field("connection") == "close"; }
};

class FuzzedDaemon {
 public:
  static constexpr std::uint64_t kBodyBytesMax = 32 << 10;
  static constexpr std::uint32_t kHeaderBytesMax = 64 << 10;

  FuzzedDaemon();
  /// What happened in the catalog is forgotten.
  void renew();

  /// Sends `bytes` and no more; all that comes back until the daemon closes. The fuzzer ends where
  /// it does not, in time.
  [[nodiscard]] std::string talk(std::string_view bytes) const;
  /// A location that a table can be registered at.
  [[nodiscard]] const std::string& table_file() const noexcept { return table_file_; }

 private:
  ScratchDirectory scratch_;
  std::string table_file_;
  std::unique_ptr<daemon::Instance> instance_;
};

/// Takes one final answer off the front of `bytes`, and the interim ones before it. Nothing: there
/// is none. What is not well-formed ends the fuzzer. `to_head`: it answers a HEAD.
[[nodiscard]] std::optional<Answer> take_answer(std::string_view& bytes, bool to_head);

/// What holds of every answer, whatever was asked.
void check_answer(const Answer& answer, bool to_head);

}  // namespace iceblink::test
