// Commands about what has changed, and what changes now.
#include <chrono>
#include <memory>
#include <optional>

#include "client/cli/invocation.h"
#include "client/cli/output.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

struct ListChanges {
  std::uint64_t since = 0;

  Result<ExitCode> run(const Invocation& invocation) const {
    ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
    ChangeToken token{since, 0};
    json::array list;
    while (true) {
      ICEBLINK_ASSIGN_OR_RETURN(const Changes found, catalog.changes_since(token));
      token = found.token;
      for (const auto& change : found.changes) {
        if (invocation.is_json()) {
          list.emplace_back(to_json(change));
        } else {
          print_line(to_text(change));
        }
      }
      if (found.changes.empty()) break;
    }
    if (invocation.is_json()) {
      print_json(json::object{{"generation", token.generation}, {"changes", std::move(list)}});
    }
    return ExitCode::kYes;
  }
};

struct Watch {
  std::optional<std::uint64_t> since;
  std::optional<std::uint64_t> count;

  Result<ExitCode> run(const Invocation& invocation) const {
    ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
    ICEBLINK_ASSIGN_OR_RETURN(ChangeToken token, catalog.change_token());
    if (since) token = {*since, 0};
    std::uint64_t left = count.value_or(0);
    if (count && left == 0) return ExitCode::kYes;
    while (true) {
      ICEBLINK_ASSIGN_OR_RETURN(const auto changed,
                                catalog.wait_for_change(token.generation, std::chrono::hours(1)));
      if (!changed) continue;
      ICEBLINK_ASSIGN_OR_RETURN(const Changes found, catalog.changes_since(token));
      token = found.token;
      for (const auto& change : found.changes) {
        if (invocation.is_json()) {
          print_json(to_json(change));
        } else {
          print_line(to_text(change));
        }
        if (count && --left == 0) return ExitCode::kYes;
      }
    }
  }
};

}  // namespace

void add_feed_commands(CLI::App& app, Invocation& invocation) {
  const auto changes = std::make_shared<ListChanges>();
  auto* const list = app.add_subcommand("changes", "list what has changed after a generation");
  list->add_option("--since", changes->since, "the generation")
      ->required()
      ->check(CLI::NonNegativeNumber);  // else -1 would be a very large number
  list->callback([&invocation, changes] {
    invocation.run = [&invocation, changes] { return changes->run(invocation); };
  });

  const auto watch = std::make_shared<Watch>();
  auto* const follow = app.add_subcommand("watch", "print changes as they come, one a line");
  follow->add_option("--since", watch->since, "begin after this generation [now]")
      ->check(CLI::NonNegativeNumber);
  follow->add_option("--count", watch->count, "end after so many changes")
      ->check(CLI::NonNegativeNumber);
  follow->callback([&invocation, watch] {
    invocation.run = [&invocation, watch] { return watch->run(invocation); };
  });
}

}  // namespace iceblink::cli
