// The instance on one screen, again and again, with rates.
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "client/cli/columns.h"
#include "client/cli/number_text.h"
#include "client/cli/output.h"
#include "client/cli/status/hot_tables.h"
#include "client/cli/status/instance_status.h"
#include "client/cli/status/terminal.h"
#include "client/cli/time_text.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kHotTablesMax = 10;

/// One look at the instance, and how it differs from the one before.
struct Look {
  InstanceStatus status;
  std::optional<double> generations_per_s;  // of the first one none
  std::vector<HotTables::Row> hot;
};

std::string rate_text(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", rate);
  return text.data();
}

std::vector<std::string> screen_lines(const Look& look) {
  std::vector<std::string> lines = status_lines(look.status);
  lines.push_back(padded("rate", 12) + (look.generations_per_s
                                            ? rate_text(*look.generations_per_s) + " generations/s"
                                            : "…"));
  for (const auto& row : look.hot) {
    lines.push_back(fit(padded(grouped(row.commit_count), 12) + row.name, kColumns));
  }
  return lines;
}

std::string compact_line(const Look& look) {
  const InstanceStatus& status = look.status;
  std::string line = time_of(status.now_ms) + (status.is_alive() ? " alive" : " NOT alive");
  if (!status.info) return line + " " + status.info.error().message();
  line += " generation " + std::to_string(status.info->generation);
  if (look.generations_per_s) line += " (" + rate_text(*look.generations_per_s) + "/s)";
  line += " tables " + std::to_string(status.info->table_count) + " arena " +
          bytes_text(status.info->used_bytes) + "/" + bytes_text(status.info->arena_bytes);
  for (const auto& row : look.hot) line += " " + row.name + "=" + std::to_string(row.commit_count);
  return line;
}

json::object look_json(const Look& look) {
  json::object document = status_json(look.status);
  document["time"] = exact_time_of(look.status.now_ms);
  document["generations-per-second"] =
      look.generations_per_s ? json::value(*look.generations_per_s) : json::value(nullptr);
  json::array hot;
  for (const auto& row : look.hot) {
    hot.push_back(json::object{{"table", row.name}, {"commits", row.commit_count}});
  }
  document["hot-tables"] = std::move(hot);
  return document;
}

struct Top {
  double interval_s = 2;
  std::optional<std::uint64_t> count;

  Result<ExitCode> run(const Invocation& invocation);

 private:
  Look look(const Invocation& invocation);

  std::optional<Catalog> catalog_;  // kept: it follows the instance through restarts
  HotTables hot_;
  std::optional<std::uint64_t> generation_;  // of the look before, and when that was
  std::chrono::steady_clock::time_point looked_at_;
};

Look Top::look(const Invocation& invocation) {
  if (!catalog_) {
    auto opened = invocation.open();
    if (opened) catalog_.emplace(std::move(*opened));
    if (!opened) return {look_at_instance(invocation.runtime_dir, opened), {}, {}};
  }
  Look look{look_at_instance(invocation.runtime_dir, *catalog_), {}, {}};
  const auto now = std::chrono::steady_clock::now();
  if (look.status.info) {
    look.hot = hot_.take(*catalog_, kHotTablesMax);
    const std::uint64_t generation = look.status.info->generation;
    const std::chrono::duration<double> elapsed = now - looked_at_;
    if (generation_ && generation >= *generation_ && elapsed.count() > 0) {
      look.generations_per_s = static_cast<double>(generation - *generation_) / elapsed.count();
    }
    generation_ = generation;
  } else {
    generation_.reset();
  }
  looked_at_ = now;
  return look;
}

Result<ExitCode> Top::run(const Invocation& invocation) {
  const auto interval = std::chrono::milliseconds(static_cast<std::int64_t>(interval_s * 1000));
  Terminal terminal;
  ExitCode code = count == 0 ? ExitCode::kYes : ExitCode::kNoDaemon;
  for (std::uint64_t shown = 0; !count || shown < *count; ++shown) {
    if (shown > 0 && !terminal.wait(interval)) break;
    const Look seen = look(invocation);
    code = exit_code_of(seen.status);
    if (invocation.is_json()) {
      print_json(look_json(seen));
    } else if (terminal.is_one()) {
      terminal.show(screen_lines(seen));
    } else {
      print_line(compact_line(seen));
    }
    if (std::ferror(stdout) != 0) break;
  }
  return code;
}

}  // namespace

void add_top_command(CLI::App& app, Invocation& invocation) {
  const auto top = std::make_shared<Top>();
  auto* const command = app.add_subcommand(
      "top", "show the instance again and again, with rates and the tables committed to (q ends)");
  command->add_option("--interval", top->interval_s, "seconds between two looks [2]")
      ->check(CLI::Range(0.05, 86'400.0));
  command->add_option("--count", top->count, "end after so many looks")
      ->check(CLI::NonNegativeNumber);
  command->callback(
      [&invocation, top] { invocation.run = [&invocation, top] { return top->run(invocation); }; });
}

}  // namespace iceblink::cli
