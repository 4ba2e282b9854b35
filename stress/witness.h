// A thread of a reader: asks the catalog all kinds of things, and says each answer to the judge.
//
// Thread safety: one thread. Several witnesses may share a catalog's copies.
#pragma once

#include <iceblink/catalog.h>

#include <random>
#include <string_view>
#include <vector>

#include "stress/stage.h"

namespace iceblink::stress {

class Witness {
 public:
  /// Claims a stream.
  Witness(Stage& stage, const KeySpace& keys, Catalog catalog, std::uint64_t seed);
  /// In a forked child: goes on with what `parent` has seen, and holds.
  Witness(const Witness& parent, std::uint64_t seed);
  Witness& operator=(const Witness&) = delete;
  /// Says that nothing follows.
  void end();

  /// One thing of any kind, but waiting.
  void look();

  void see_snapshot();
  /// Names one by one, without a snapshot.
  void see_lookup();
  /// Many names in one call.
  void see_batch();
  void see_listing();
  void see_feed();
  void see_wait(std::chrono::milliseconds timeout);

  /// Takes a snapshot and keeps it; looks at those it keeps again and lets go of old ones.
  void hold(std::chrono::milliseconds how_long);
  void look_at_held();

  [[nodiscard]] std::uint64_t random(std::uint64_t below) { return random_() % below; }

 private:
  void start();
  /// An answer that begins now.
  [[nodiscard]] Answer begin(Answer::Kind kind) const;
  void push(Answer& answer);
  /// Ends an answer of lookups: it is of `catalog`'s present generation or one before.
  void push_within(Answer& answer);
  void sight(const Snapshot& snapshot, Key key, Answer& answer);
  [[nodiscard]] Result<Value> value_of(const Snapshot& snapshot, Key key);
  [[nodiscard]] Result<Value> object_value(const Snapshot& snapshot, Key key);
  [[nodiscard]] Result<Value> group_value(const Snapshot& snapshot, Key key) const;
  template <typename Source>
  [[nodiscard]] Result<Value> listing_value(const Source& source, Key key) const;
  void look_at(const Snapshot& snapshot, Answer::Kind first_kind, unsigned answer_count);
  void wrong(std::string_view call, const Error& error) const;
  void wrong(std::string_view what) const;
  [[nodiscard]] Key any_key();
  [[nodiscard]] Key any_table();
  [[nodiscard]] Value table_value(const Result<std::string>& location, bool& is_good) const;

  Stage& stage_;
  const KeySpace& keys_;
  Catalog catalog_;
  std::mt19937_64 random_;
  Stage::Stream& stream_;
  std::uint64_t seen_;
  ChangeToken token_;
  std::vector<Snapshot> snapshots_;          // held
  std::vector<std::uint64_t> let_go_at_ns_;  // of each
};

}  // namespace iceblink::stress
