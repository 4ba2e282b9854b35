#include "client/cli/status/daemon_answers.h"

#include <charconv>
#include <chrono>

#include "client/daemon_client.h"
#include "client/wire.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

constexpr std::chrono::milliseconds kTimeout{1000};

}  // namespace

std::optional<std::uint64_t> DaemonAnswers::metric(std::string_view name) const {
  const auto found = metrics.find(name);
  if (found == metrics.end() || found->second < 0) return std::nullopt;
  return static_cast<std::uint64_t>(found->second);
}

std::map<std::string, double, std::less<>> parse_metrics(std::string_view text) {
  std::map<std::string, double, std::less<>> metrics;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto space = line.rfind(' ');  // labels may hold spaces
    if (line.starts_with('#') || space == std::string_view::npos) continue;
    const std::string_view number = line.substr(space + 1);
    double value = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
    if (parsed.ec != std::errc{}) continue;
    metrics[std::string(line.substr(0, line.find_first_of(" {")))] += value;
  }
  return metrics;
}

DaemonAnswers ask_daemon(const std::string& runtime_dir) {
  client::DaemonClient daemon(runtime_dir + "/" + shm::kSocketName);
  DaemonAnswers answers;
  const auto health = daemon.call({.method = "GET", .target = "/healthz"}, kTimeout);
  answers.is_alive = health && client::is_success(*health);
  if (!health && health.error().kind() == ErrorKind::kNotAllowed) {
    answers.refusal = health.error().message();
  }
  if (!answers.is_alive) return answers;
  const client::Request readiness{.method = "GET", .target = "/readyz"};
  const auto ready = daemon.call(readiness, kTimeout);
  if (ready && !client::is_success(*ready)) {
    answers.not_ready = client::error_of(readiness, *ready).message();
  }
  const auto metrics = daemon.call({.method = "GET", .target = "/metrics"}, kTimeout);
  if (metrics && client::is_success(*metrics)) answers.metrics = parse_metrics(metrics->body);
  return answers;
}

}  // namespace iceblink::cli
