// Commands about what has changed, and what changes now.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/time_text.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

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

/// Follows the feed through restarts of the daemon, replaced segments and other stores.
class Watch {
 public:
  std::optional<std::uint64_t> since;
  std::optional<std::uint64_t> count;
  bool tells_time = false;

  Result<ExitCode> run(const Invocation& invocation) {
    ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
    ICEBLINK_ASSIGN_OR_RETURN(ChangeToken token, catalog.change_token());
    if (since) token.generation = *since;
    left_ = count.value_or(0);
    if (count && left_ == 0) return ExitCode::kYes;
    while (true) {
      // So often it is seen that another catalog took the place of a quiet one.
      constexpr std::chrono::milliseconds kLookInterval{500};
      const auto changed = catalog.wait_for_change(token.generation, kLookInterval);
      auto found = changed ? catalog.changes_since(token) : Result<Changes>(changed.error());
      if (!found) {
        ICEBLINK_ASSIGN_OR_RETURN(token, go_on_after(found.error(), token, catalog));
        continue;
      }
      last_said_.clear();
      token = found->token;
      for (const auto& change : found->changes) {
        print(invocation, change);
        if (std::ferror(stdout) != 0) return ExitCode::kInternal;
        if (count && --left_ == 0) return ExitCode::kYes;
      }
    }
  }

 private:
  /// Where to go on after an error; the error again, when there is no going on.
  Result<ChangeToken> go_on_after(const Error& error, const ChangeToken& token,
                                  const Catalog& catalog) {
    const auto now = catalog.change_token();
    if (error.kind() == ErrorKind::kGone && now && now->incarnation != token.incarnation) {
      say("this is another catalog now: going on behind generation " +
          std::to_string(now->generation));
      return *now;
    }
    const bool may_pass = error.kind() == ErrorKind::kNoSegment ||
                          error.kind() == ErrorKind::kNoDaemon ||
                          error.kind() == ErrorKind::kTimedOut;
    if (!may_pass) return error;
    say(error.message() + "; waiting");
    constexpr std::chrono::milliseconds kPause{250};
    std::this_thread::sleep_for(kPause);
    return token;
  }

  void print(const Invocation& invocation, const TableChange& change) const {
    const std::string time = tells_time ? exact_time_of(now_ms()) : "";
    if (invocation.is_json()) {
      json::object object = to_json(change);
      if (tells_time) object["time"] = time;
      print_json(object);
    } else {
      print_line(tells_time ? time + " " + to_text(change) : to_text(change));
    }
  }

  /// Once, however often the same comes again.
  void say(const std::string& what) {
    if (what != last_said_) print_error(what);
    last_said_ = what;
  }

  std::uint64_t left_ = 0;
  std::string last_said_;
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
  follow->add_flag("--time", watch->tells_time, "say of each change when it was seen");
  follow->callback([&invocation, watch] {
    invocation.run = [&invocation, watch] { return watch->run(invocation); };
  });
}

}  // namespace iceblink::cli
