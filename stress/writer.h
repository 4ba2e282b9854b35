// A process that writes, by all means that there are: batches and the Iceberg REST protocol, with
// idempotency keys where they are taken. Each operation is recorded before it is sent and after it
// was answered.
//
// A writer has names of its own, of which it knows how they stand, so that it also judges whether
// an operation was refused or done as it must be; and names that it shares with all others.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/catalog.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "client/daemon_client.h"
#include "stress/stage.h"

namespace iceblink::stress {

class Writer {
 public:
  Writer(Stage& stage, const KeySpace& keys, unsigned writer, const std::string& runtime_dir,
         Catalog catalog, std::uint64_t seed);

  /// Until the stage says so, and everything begun has ended.
  void run();

 private:
  enum class Expected : std::uint8_t { kDone, kRefused, kEither };

  /// An operation, made but not sent. Its number is number_.
  struct Plan {
    Counted kind = Counted::kRegister;
    client::Request request;
    std::vector<Effect> effects;
    Expected expected = Expected::kDone;
  };

  void set_up();
  /// The next operation by chance; nothing when it cannot be done as things stand.
  [[nodiscard]] std::optional<Plan> plan();
  [[nodiscard]] Plan batch(Counted kind, std::string lines, std::vector<Effect> effects) const;
  [[nodiscard]] Plan rest(Counted kind, std::string_view method, std::string target,
                          std::string body, std::vector<Effect> effects);

  // Plans, by what they are of: writer_plans.cc.
  [[nodiscard]] std::optional<Plan> own();
  [[nodiscard]] std::optional<Plan> own_absent(Key key);
  [[nodiscard]] std::optional<Plan> own_table(Key key);
  [[nodiscard]] std::optional<Plan> own_view(Key key);
  [[nodiscard]] std::optional<Plan> own_renamed(Key from);
  [[nodiscard]] std::optional<Plan> group();
  [[nodiscard]] std::optional<Plan> mixed();
  [[nodiscard]] std::optional<Plan> wrong_batch();
  [[nodiscard]] std::optional<Plan> flux();
  [[nodiscard]] Plan flux_made();
  [[nodiscard]] Plan flux_dropped();
  [[nodiscard]] std::optional<Plan> contested();
  [[nodiscard]] std::optional<Plan> files();
  [[nodiscard]] std::optional<Plan> transaction();
  [[nodiscard]] Plan properties();

  /// What became of it. Ends only when that is known, or never can be.
  struct Ending {
    Outcome outcome;
    std::uint64_t generation = 0;
  };
  void perform(const Plan& plan);
  [[nodiscard]] Ending send(const Plan& plan);
  /// After no answer came: the generation of a later daemon than the one that was asked.
  [[nodiscard]] std::uint64_t settle();
  /// What was done is asked for once more: the same answer, and no effect.
  void send_again(const Plan& plan);
  void record(WriterRecord& record);
  /// How the own names stand, from the segment.
  void look_again();
  void odd(const Plan& plan, std::string_view what) const;

  [[nodiscard]] std::uint64_t random(std::uint64_t below) { return random_() % below; }
  [[nodiscard]] Key any_of(const std::vector<Key>& keys) { return keys[random(keys.size())]; }
  [[nodiscard]] const TableIdent& ident(Key key) const { return keys_.object(key).ident; }
  [[nodiscard]] bool exists(Key key) const { return values_[key] != kAbsent; }
  [[nodiscard]] std::string location() const { return location_of(number_); }
  [[nodiscard]] std::string new_idempotency_key();

  Stage& stage_;
  const KeySpace& keys_;
  const unsigned writer_;
  const KeySpace::Estate& estate_;
  Catalog catalog_;
  client::DaemonClient daemon_;
  std::mt19937_64 random_;
  std::uint64_t number_;
  std::vector<Value> values_;  // by key; right for the own ones
};

/// In a process of its own.
[[noreturn]] void write_on(Stage& stage, const KeySpace& keys, unsigned writer,
                           const std::string& runtime_dir, std::uint64_t seed);

}  // namespace iceblink::stress
