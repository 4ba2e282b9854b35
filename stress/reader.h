// Processes that read. Each ends by itself when the stage says so, or is killed.
#pragma once

#include <cstdint>
#include <string>

#include "stress/stage.h"

namespace iceblink::stress {

/// What a reader is told when it is forked.
struct ReaderTask {
  Stage& stage;
  const KeySpace& keys;
  std::string runtime_dir;
  std::uint64_t seed = 0;
};

/// Several threads that ask without pause, wait, hold snapshots, and fork children that go on with
/// the same catalog. Must be the main thread.
[[noreturn]] void read_on(const ReaderTask& task);

/// Attaches, asks a few things, and ends.
[[noreturn]] void read_briefly(const ReaderTask& task);

}  // namespace iceblink::stress
