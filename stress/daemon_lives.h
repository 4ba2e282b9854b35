// One daemon after the other: how each begins, and how it ends.
//
// Thread safety: one thread, that of the conductor.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "stress/daemon_process.h"
#include "stress/options.h"
#include "stress/scratch.h"
#include "stress/stage.h"

namespace iceblink::stress {

/// Whether a daemon over a store and a control page of its own passes it.
[[nodiscard]] bool is_passed_in_life(std::string_view fault_point);

class DaemonLives {
 public:
  DaemonLives(Stage& stage, const Scratch& scratch, const Options& options, std::uint64_t seed);

  /// The first, which nothing is to happen to while it starts. kNoDaemon.
  [[nodiscard]] Status begin();
  /// At each SIGCHLD, and when the present life has lasted its time: ends it, or sees that it has
  /// ended, and begins the next.
  void look(std::uint64_t now);
  [[nodiscard]] std::uint64_t ends_at_ns() const noexcept { return ends_at_ns_; }
  /// The last: no fault, no end. False when it did not start.
  [[nodiscard]] bool begin_last();
  /// SIGTERM to the last. False when it did not end well.
  [[nodiscard]] bool end_last();

  [[nodiscard]] pid_t pid() const noexcept { return daemon_.pid(); }
  /// It ended again and again without having been told to.
  [[nodiscard]] bool has_given_up() const noexcept { return failed_starts_ > kFailedStartsMax; }

 private:
  enum class End : std::uint8_t { kRandom, kPoint, kTermination, kStopPoint };
  struct Life {
    End end = End::kRandom;
    std::string fault_point;  // NAME:N
    bool is_on_slow_disk = false;
    std::uint64_t slow_seed = 0;
    unsigned headroom_bytes = 0;
    std::uint64_t lasts_ns = 0;
  };
  [[nodiscard]] Life plan();
  /// All of `all` in some order, then in another: nothing stays out for long.
  template <typename T>
  [[nodiscard]] T draw(std::vector<T>& deck, const std::vector<T>& all);
  [[nodiscard]] DaemonOptions options_of(const Life& life) const;
  static constexpr unsigned kFailedStartsMax = 5;
  /// Starts lives until one is ready; some die of their fault point before. Where readers' old
  /// arenas fill the runtime directory, none is, and the next look tries again.
  void start(Life life);
  [[nodiscard]] bool had_no_room(int outcome) const;
  /// It has ended, with that outcome, by itself or because it was told to.
  void account(int outcome);
  void terminate();
  void count_point_kill();
  [[nodiscard]] std::uint64_t random(std::uint64_t below) { return random_() % below; }

  Stage& stage_;
  const Scratch& scratch_;
  const Options& options_;
  std::mt19937_64 random_;
  DaemonProcess daemon_;
  std::vector<End> ends_;  // decks, as far as they are left
  std::vector<std::string> points_, stop_points_;
  Life life_;
  std::uint64_t ends_at_ns_ = 0;
  unsigned failed_starts_ = 0;  // in a row, that nobody had asked for
};

}  // namespace iceblink::stress
