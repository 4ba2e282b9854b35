// What the daemon says of itself, if it answers.
//
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::cli {

struct DaemonAnswers {
  bool is_alive = false;  // /healthz
  /// Why this user may not ask: then it may be alive all the same, and the rest is unknown.
  std::optional<std::string> refusal;
  std::optional<std::string> not_ready;  // /readyz: why; empty optional: it is, or no answer
  /// /metrics, by name: of those with labels the sum. Empty: it did not answer.
  std::map<std::string, double, std::less<>> metrics;

  /// A count or a size.
  [[nodiscard]] std::optional<std::uint64_t> metric(std::string_view name) const;
};

/// At most a second or so for each question; the others are left out where the first has no answer.
[[nodiscard]] DaemonAnswers ask_daemon(const std::string& runtime_dir);

/// Of a text in Prometheus' format, without timestamps: by name, the sum over all labels.
[[nodiscard]] std::map<std::string, double, std::less<>> parse_metrics(std::string_view text);

}  // namespace iceblink::cli
