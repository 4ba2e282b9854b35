// What is asked. How names become values: sights.cc.
#include "stress/witness.h"

#include <unistd.h>

#include <algorithm>

namespace iceblink::stress {

Witness::Witness(Stage& stage, const KeySpace& keys, Catalog catalog, std::uint64_t seed)
    : stage_(stage),
      keys_(keys),
      catalog_(std::move(catalog)),
      random_(seed),
      stream_(stage.claim_stream()),
      // SYNC stress-acknowledged: acquires what writers were told; partner Stage::acknowledge
      seen_(stage_.acknowledged.load(std::memory_order_acquire)),
      token_{seen_, 0} {
  start();
}

Witness::Witness(const Witness& parent, std::uint64_t seed)
    : stage_(parent.stage_),
      keys_(parent.keys_),
      catalog_(parent.catalog_),
      random_(seed),
      stream_(stage_.claim_stream()),
      seen_(parent.seen_),
      token_(parent.token_),
      snapshots_(parent.snapshots_),
      let_go_at_ns_(parent.snapshots_.size(), ~std::uint64_t{0}) {
  start();
  for (std::size_t i = 0; i < snapshots_.size(); ++i) stage_.count(Counted::kInheritedSnapshots);
}

void Witness::start() {
  Answer answer = begin(Answer::Kind::kStart);
  answer.generation = seen_;
  push(answer);
}

void Witness::end() {
  snapshots_.clear();
  let_go_at_ns_.clear();
  Answer answer = begin(Answer::Kind::kEnd);
  push(answer);
}

Answer Witness::begin(Answer::Kind kind) const {
  Answer answer;
  answer.kind = kind;
  // SYNC stress-acknowledged: acquires what writers were told; partner Stage::acknowledge
  answer.acknowledged = stage_.acknowledged.load(std::memory_order_acquire);
  answer.begun_ns = now_ns();
  return answer;
}

void Witness::push(Answer& answer) {
  answer.ended_ns = now_ns();
  answer.oldest = std::min(seen_, token_.generation);
  for (const Snapshot& snapshot : snapshots_) {
    answer.oldest = std::min(answer.oldest, snapshot.generation());
  }
  while (!stream_.answers.push(answer)) ::usleep(1000);  // the judge has much to do
}

void Witness::push_within(Answer& answer) {
  const auto generation = catalog_.generation();
  if (!generation) return wrong("generation", generation.error());
  answer.generation = *generation;
  push(answer);
}

void Witness::wrong(std::string_view call, const Error& error) const {
  wrong(std::string(call) + ": " + std::string(to_string(error.kind())) + ": " + error.message());
}

void Witness::wrong(std::string_view what) const {
  stage_.report(Wrong::kReader, "process " + std::to_string(::getpid()) + ", which had seen " +
                                    std::to_string(seen_) + ": " + std::string(what));
}

void Witness::look() {
  switch (random(8)) {
    case 0:
      return see_listing();
    case 1:
      return see_batch();
    case 2:
      return see_feed();
    case 3:
    case 4:
      return see_lookup();
    default:
      return see_snapshot();
  }
}

void Witness::see_snapshot() {
  Answer answer = begin(Answer::Kind::kAt);
  const auto snapshot = catalog_.snapshot();
  if (!snapshot) return wrong("snapshot", snapshot.error());
  stage_.count(Counted::kSnapshots);
  answer.generation = snapshot->generation();
  push(answer);
  seen_ = std::max(seen_, snapshot->generation());
  // seen_ is not above the snapshot's generation, or the judge says so.
  look_at(*snapshot, Answer::Kind::kHeld, 1 + static_cast<unsigned>(random(4)));
}

void Witness::look_at(const Snapshot& snapshot, Answer::Kind kind, unsigned answer_count) {
  for (unsigned i = 0; i < answer_count; ++i) {
    Answer answer = begin(kind);
    answer.generation = snapshot.generation();
    while (!answer.is_full()) {
      const std::uint8_t before = answer.sight_count;
      sight(snapshot, any_key(), answer);
      if (answer.sight_count == before) return;  // it was said why
    }
    push(answer);
  }
}

void Witness::hold(std::chrono::milliseconds how_long) {
  Answer answer = begin(Answer::Kind::kAt);
  auto snapshot = catalog_.snapshot();
  if (!snapshot) return wrong("snapshot", snapshot.error());
  answer.generation = snapshot->generation();
  snapshots_.push_back(std::move(*snapshot));
  let_go_at_ns_.push_back(now_ns() + static_cast<std::uint64_t>(how_long.count()) * 1'000'000);
  push(answer);
  seen_ = std::max(seen_, snapshots_.back().generation());
  stage_.count(Counted::kHolds);
}

void Witness::look_at_held() {
  const std::uint64_t now = now_ns();
  for (std::size_t i = 0; i < snapshots_.size();) {
    look_at(snapshots_[i], Answer::Kind::kHeld, 2);
    if (let_go_at_ns_[i] > now) {
      ++i;
      continue;
    }
    snapshots_.erase(snapshots_.begin() + static_cast<std::ptrdiff_t>(i));
    let_go_at_ns_.erase(let_go_at_ns_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Witness::see_lookup() {
  Answer answer = begin(Answer::Kind::kWithin);
  const Key key = any_table();
  const TableIdent& ident = keys_.object(key).ident;
  bool is_good = true;
  if (random(3) == 0) {
    const auto prepared = catalog_.prepare(ident);
    if (!prepared) return wrong("prepare", prepared.error());
    answer.add(key, table_value(catalog_.resolve_location(*prepared), is_good));
  } else {
    answer.add(key, table_value(catalog_.resolve_location(ident), is_good));
  }
  if (!is_good) return;
  stage_.count(Counted::kLookups);
  push_within(answer);
}

void Witness::see_batch() {
  Answer answer = begin(Answer::Kind::kWithin);
  std::vector<Key> wanted;
  if (random(2) == 0) {
    const unsigned writer = static_cast<unsigned>(random(keys_.writers()));
    wanted = keys_.group(keys_.estate(writer).group);
  }
  while (wanted.size() < kSightsMax) wanted.push_back(any_table());
  std::vector<TableIdent> idents;
  for (const Key key : wanted) idents.push_back(keys_.object(key).ident);
  const auto locations = catalog_.resolve_locations(idents);
  if (!locations) return wrong("resolve_locations", locations.error());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& location = (*locations)[i];
    answer.add(wanted[i], location ? value_of_location(*location, ObjectKind::kTable) : kAbsent);
  }
  stage_.count(Counted::kBatches);
  push_within(answer);
}

void Witness::see_feed() {
  Answer answer = begin(Answer::Kind::kChanges);
  answer.from = token_.generation;
  const auto changes = catalog_.changes_since(token_);
  if (!changes) {
    const ErrorKind kind = changes.error().kind();
    // What only the daemon still has is not to be had while there is none.
    const bool is_daemons =
        kind == ErrorKind::kNoDaemon || kind == ErrorKind::kTimedOut || kind == ErrorKind::kBusy;
    if (!is_daemons) wrong("changes_since " + std::to_string(token_.generation), changes.error());
    return;
  }
  std::uint64_t last = token_.generation;
  std::uint64_t index = 0;
  for (const TableChange& change : changes->changes) {
    if (change.generation < last) return wrong("the feed went back");
    index = change.generation == last ? index + 1 : 0;
    last = change.generation;
    const auto key = change.kind == ObjectKind::kNamespace
                         ? keys_.find_namespace(change.levels.empty() ? "" : change.levels.front())
                         : keys_.find_object({change.levels, change.name});
    if (!key) return wrong("the feed names " + format(TableIdent{change.levels, change.name}));
    Value value = change.kind == ObjectKind::kNamespace
                      ? 1
                      : value_of_location(change.metadata_location, change.kind);
    if (change.op == TableChange::Op::kDrop) value = kAbsent;
    answer.changes.sum += change_hash(change.generation, index, *key, value);
    ++answer.changes.count;
  }
  answer.generation = changes->token.generation;
  push(answer);
  token_ = changes->token;
  seen_ = std::max(seen_, token_.generation);
  stage_.count(Counted::kFeeds);
}

void Witness::see_wait(std::chrono::milliseconds timeout) {
  const auto generation = catalog_.generation();
  if (!generation) return wrong("generation", generation.error());
  seen_ = std::max(seen_, *generation);
  Answer answer = begin(Answer::Kind::kWaited);
  answer.from = *generation;
  const auto woken = catalog_.wait_for_change(*generation, timeout);
  if (!woken) return wrong("wait_for_change", woken.error());
  if (*woken && **woken <= *generation) return wrong("a wait gave what was there before");
  answer.generation = woken->value_or(0);
  push(answer);
  seen_ = std::max(seen_, answer.generation);
  stage_.count(*woken ? Counted::kWaits : Counted::kWaitsPassed);
}

}  // namespace iceblink::stress
