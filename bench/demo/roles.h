// What the processes of the demonstration do: readers look up without pause and judge every
// answer; committers move pointers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>

#include "bench/demo/catalog_tables.h"
#include "bench/demo/latency.h"

namespace iceblink::demo {

/// Shared by all processes.
struct Stage {
  std::atomic<bool> stop{false};
  std::atomic<bool> daemon_is_dead{false};
  std::atomic<std::uint64_t> acknowledged{0};  // the highest generation a commit was answered with
};

/// One reader's account, in shared memory. Written by the reader; read once it has ended.
struct ReaderAccount {
  Latency latency;
  std::uint64_t lookups_while_dead = 0;
  std::uint64_t generations_seen = 0;
  std::uint64_t wrong_count = 0;
  char first_wrong[256] = {};
};

struct CommitterAccount {
  std::uint64_t commits = 0;
  std::uint64_t refused = 0;  // while the daemon was dead
  Latency latency;
};

/// Memory that child processes share with this one; zeroed.
[[nodiscard]] void* shared_memory(std::size_t bytes);

[[nodiscard]] pid_t start_reader(const std::string& runtime_dir, const DemoTables& demo,
                                 const Stage& stage, ReaderAccount& account);
/// Committer number `number` of `count` moves the pointers of every count-th table.
[[nodiscard]] pid_t start_committer(const std::string& runtime_dir, const DemoTables& demo,
                                    Stage& stage, CommitterAccount& account, std::size_t number,
                                    std::size_t count);

}  // namespace iceblink::demo
