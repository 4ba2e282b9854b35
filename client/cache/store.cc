#include "client/cache/store.h"

#include <algorithm>
#include <limits>

#include "client/cache/fork_handlers.h"

namespace iceblink::client::cache {

/// The mutex, for a call that may retire something. That is buried after it is let go.
class Store::Lock {
 public:
  explicit Lock(Store& store) noexcept : store_(store) { store_.mutex_.lock(); }
  ~Lock() {
    const bool is_burial_due = !store_.retired_.empty() || store_.has_graves_;
    store_.mutex_.unlock();
    if (is_burial_due) store_.bury();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Store& store_;
};

namespace {

/// The payload, as its value.
Value value_of(const std::shared_ptr<Payload>& payload) noexcept {
  return {payload, payload->value()};
}

constexpr std::size_t kPayloadBytes =
    allocated_bytes(sizeof(Payload) + 16);  // with its control block

/// Loads that this thread leads. Its address names the thread.
constinit thread_local int led_count = 0;

}  // namespace

std::shared_ptr<Store> Store::make(const StoreOptions& options) {
  ForkHandlers& handlers = ForkHandlers::instance();  // before there is a store to be removed
  std::shared_ptr<Store> store(new Store(options));
  handlers.add(store.get());
  return store;
}

Store::~Store() {
  ForkHandlers::instance().remove(this);
}

Ticket Store::start(std::uint64_t hash, std::string_view key, std::uint32_t thread_index) {
  auto flight = std::make_shared<Flight>();
  flight->hash = hash;
  flight->key = key;
  flight->leader = &led_count;
  const Lock lock(*this);
  if (Entry* const entry = find_entry(hash, key)) {
    ++counts_.late_hit_count;
    return {reference(*entry, thread_index % kStripes), {}, {}};
  }
  const auto under_way = std::find_if(flights_.begin(), flights_.end(), [&](const auto& other) {
    return other->hash == hash && other->key == key;
  });
  if (under_way != flights_.end()) {
    ++counts_.miss_count;
    ++counts_.wait_count;
    return {{}, {}, *under_way};
  }
  flight->life = life_;
  flight->is_to_be_kept = options_.bytes_max > 0;
  flights_.push_back(flight);
  ++counts_.miss_count;
  ++counts_.load_count;
  return {{}, Load(shared_from_this(), std::move(flight)), {}};
}

Value Store::find_kept(std::uint64_t hash, std::string_view key,
                       std::uint32_t thread_index) noexcept {
  const Lock lock(*this);
  Entry* const entry = find_entry(hash, key);
  if (entry == nullptr) return {};
  ++counts_.late_hit_count;
  return reference(*entry, thread_index % kStripes);
}

Entry* Store::find_entry(std::uint64_t hash, std::string_view key) const noexcept {
  if (!entries_) return nullptr;
  return entries_->find(hash,
                        [&](const Entry& candidate) { return candidate.payload->key() == key; });
}

std::optional<Result<Value>> Store::wait(Flight& flight, std::string_view named) {
  std::unique_lock lock(mutex_);
  const auto has_landed = [&] { return flight.outcome.has_value(); };
  if (!has_landed()) {
    if (flight.life != life_) return std::nullopt;
    if (Load::count_led() > 0) {
      if (flight.leader != &led_count) return std::nullopt;
      return Error{ErrorKind::kUnsupported, {named, ": asks for what it is to load"}};
    }
  }
  flight.landed.wait(lock, has_landed);
  return flight.outcome;
}

Load Store::start_alone(std::string_view key) {
  auto flight = std::make_shared<Flight>();
  flight->key = key;
  flight->leader = &led_count;
  flight->is_to_be_kept = false;
  const Lock lock(*this);
  flight->life = life_;
  ++counts_.load_count;
  return {shared_from_this(), std::move(flight)};
}

Value Store::reference(Entry& entry, std::uint32_t stripe) noexcept {
  const std::shared_ptr<Payload> payload = entry.payload;
  try {
    if (entry.handles[stripe] == nullptr) try_to_give_handle(entry, stripe);
  } catch (const std::bad_alloc&) {
    return value_of(payload);
  }
  if (payload->entry_ == nullptr || entry.handles[stripe] == nullptr) return value_of(payload);
  entry.handles[stripe]->mark();
  return entry.handles[stripe]->value;
}

void Store::try_to_give_handle(Entry& entry, std::uint32_t stripe) {
  if (!grow_stripe(stripe) || !make_room(kHandleBytes) || entry.payload->entry_ == nullptr) {
    return;
  }
  Handle& made = entry.make_handle(stripe);
  entry.payload->weight_bytes_ += kHandleBytes;
  queue_.reweigh(entry, entry.weight_bytes + kHandleBytes);
  keep_bytes(kHandleBytes, 0);
  stripes_[stripe].index->insert(entry.hash, made);
  ++stripes_[stripe].handle_count;
}

bool Store::make_room(std::size_t bytes) noexcept {
  if (cannot_bury_) return false;
  const std::size_t fixed_bytes = in_flight_bytes_ + holding_bytes_;
  if (fixed_bytes > options_.bytes_max || bytes > options_.bytes_max - fixed_bytes) return false;
  while (kept_bytes_ + in_flight_bytes_ + bytes > options_.bytes_max) {
    QueueNode* const node =
        queue_.evict([](QueueNode& each) { return static_cast<Entry&>(each).collect_marks(); });
    if (node == nullptr) return false;
    retire(static_cast<Entry&>(*node));
  }
  return true;
}

/// The queues have let go of it.
void Store::retire(Entry& entry) noexcept {
  Payload& payload = *entry.payload;
  entries_->erase(entry.hash, entry);
  for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
    if (entry.handles[stripe] == nullptr) continue;
    stripes_[stripe].index->erase(entry.hash, *entry.handles[stripe]);
    --stripes_[stripe].handle_count;
  }
  keep_bytes(0, entry.weight_bytes);
  --counts_.entry_count;
  ++counts_.eviction_count;
  payload.entry_ = nullptr;
  payload.is_pinned_ = true;
  pinned_bytes_.fetch_add(payload.weight_bytes_, std::memory_order_relaxed);  // relaxed: a count
  retired_.add(entry);
}

bool Store::grow_entries() {
  if (entries_ && entries_->has_room()) return true;
  const std::size_t count = counts_.entry_count * 2 + 1;
  const std::size_t ghost_bytes_before = queue_.ghost_bytes();
  if (!make_room(Index<Entry>::bytes_for(count) + GhostTable::bytes_for(count))) {
    return false;
  }
  auto larger = std::make_unique<Index<Entry>>(count);
  if (entries_) entries_->for_each([&](Entry& each) { larger->insert(each.hash, each); });
  queue_.fit_ghosts(count);
  hold_bytes(larger->bytes() + queue_.ghost_bytes(), ghost_bytes_before);
  std::swap(entries_, larger);
  if (larger) hold_bytes(0, larger->bytes());
  return true;
}

bool Store::grow_stripe(std::uint32_t number) {
  Stripe& stripe = stripes_[number];
  if (stripe.index && stripe.index->has_room()) return true;
  const std::size_t count = stripe.handle_count * 2 + 1;
  if (!make_room(Index<Handle>::bytes_for(count))) return false;
  auto larger = std::make_unique<Index<Handle>>(count);
  if (stripe.index) {
    stripe.index->for_each([&](Handle& each) { larger->insert(each.payload->entry_->hash, each); });
  }
  hold_bytes(larger->bytes(), 0);
  // SYNC cache-index: releases its slots; partner Store::find
  indexes_[number].store(larger.get(), std::memory_order_release);
  std::swap(stripe.index, larger);
  if (larger) {
    hold_bytes(0, larger->bytes());
    retired_.add(std::move(larger));
  }
  return true;
}

void Store::keep_bytes(std::size_t more, std::size_t less) noexcept {
  kept_bytes_ = kept_bytes_ + more - less;
  note_peak();
}

void Store::hold_bytes(std::size_t more, std::size_t less) noexcept {
  holding_bytes_ = holding_bytes_ + more - less;
  keep_bytes(more, less);
}

void Store::set_aside(Flight& flight, std::size_t bytes, std::size_t value_bytes_min) noexcept {
  if (flight.life != life_ || !flight.is_to_be_kept) return;
  in_flight_bytes_ -= flight.set_aside_bytes;
  flight.is_to_be_kept = value_bytes_min <= options_.entry_bytes_max && make_room(bytes);
  flight.set_aside_bytes = flight.is_to_be_kept ? bytes : 0;
  in_flight_bytes_ += flight.set_aside_bytes;
  note_peak();
}

bool Store::keep(Flight& flight, const std::shared_ptr<Payload>& payload, std::size_t value_bytes) {
  if (!flight.is_to_be_kept) return false;
  payload->key_ = std::move(flight.key);
  // What the value has grown by since `value_bytes` was taken is in the payload's weight.
  const std::size_t beside_bytes =
      payload->weight_bytes_ + kPayloadBytes + allocated_bytes(payload->key_);
  if (value_bytes > std::numeric_limits<std::size_t>::max() - beside_bytes - kEntryBytes) {
    return false;
  }
  const std::size_t payload_bytes = value_bytes + beside_bytes;
  const std::size_t weight_bytes = payload_bytes + kEntryBytes;
  auto entry = std::make_unique<Entry>();
  if (weight_bytes > options_.entry_bytes_max || !grow_entries() || !make_room(weight_bytes)) {
    return false;
  }
  entry->hash = flight.hash;
  entry->weight_bytes = weight_bytes;
  entry->payload = payload;
  payload->weight_bytes_ = payload_bytes;
  payload->entry_ = entry.get();
  keep_bytes(weight_bytes, 0);
  ++counts_.entry_count;
  queue_.insert(*entry);
  entries_->insert(flight.hash, *entry.release());
  return true;
}

void Store::land(const std::shared_ptr<Flight>& flight, Result<Value> outcome) noexcept {
  if (flight->life != life_) return;  // forgotten by a child
  std::erase(flights_, flight);
  if (!outcome) ++counts_.load_failure_count;
  flight->outcome.emplace(std::move(outcome));
  flight->landed.notify_all();
}

void Store::note_peak() noexcept {
  counts_.used_bytes_peak = std::max(counts_.used_bytes_peak, kept_bytes_ + in_flight_bytes_);
}

void Store::grew(Payload& payload, std::size_t bytes) noexcept {
  const Lock lock(*this);
  if (Entry* const entry = payload.entry_) {
    const bool fits = entry->weight_bytes + bytes <= options_.entry_bytes_max && make_room(bytes);
    if (payload.entry_ != nullptr && !fits) {
      queue_.remove(*entry);
      retire(*entry);
    } else if (payload.entry_ != nullptr) {
      queue_.reweigh(*entry, entry->weight_bytes + bytes);
      keep_bytes(bytes, 0);
    }
  }
  payload.weight_bytes_ += bytes;
  // relaxed: a count
  if (payload.is_pinned_) pinned_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void Store::bury() noexcept {
  std::shared_ptr<Retired> leaving;
  try {
    leaving = std::make_shared<Retired>(pinned_bytes_);
  } catch (const std::bad_alloc&) {
    leaving = nullptr;
  }
  // Destroyed without the locks: values may have caches of their own.
  std::vector<std::shared_ptr<const void>> unread;
  const std::lock_guard grave_lock(grave_mutex_);
  const bool has_room = leaving != nullptr && graveyard_.make_room();
  if (has_room) {
    const std::lock_guard lock(mutex_);
    leaving->take(retired_);
  }
  if (has_room && !leaving->empty()) graveyard_.bury(std::move(leaving));
  unread = graveyard_.exhume();
  const std::lock_guard lock(mutex_);
  cannot_bury_ = graveyard_.is_waiting() || (!has_room && !retired_.empty());
  has_graves_ = graveyard_.size() > 0;
}

CacheStats Store::stats() noexcept {
  bury();
  const std::lock_guard lock(mutex_);
  CacheStats stats = counts_;
  stats.kept_bytes = kept_bytes_;
  stats.in_flight_bytes = in_flight_bytes_;
  stats.pinned_bytes = pinned_bytes_.load(std::memory_order_relaxed);  // relaxed: a count
  return stats;
}

void Store::close() noexcept {
  // Nobody reads, so nothing need be buried. Destroyed without the locks. What another thread's
  // document evicted is in retired_ or in the graveyard, and nothing is evicted after.
  Retired leaving(pinned_bytes_);
  shm::Graveyard graves;
  const std::scoped_lock lock(grave_mutex_, mutex_);
  std::swap(graves, graveyard_);
  const auto collect = [](QueueNode& node) { return static_cast<Entry&>(node).collect_marks(); };
  while (QueueNode* const node = queue_.evict(collect)) retire(static_cast<Entry&>(*node));
  leaving.take(retired_);
  for (auto& index : indexes_) {
    index.store(nullptr, std::memory_order_relaxed);  // relaxed: nobody reads
  }
  for (Stripe& stripe : stripes_) stripe.index.reset();
  entries_.reset();
}

Load::Load(std::shared_ptr<Store> store, std::shared_ptr<Flight> flight) noexcept
    : store_(std::move(store)), flight_(std::move(flight)) {
  ++led_count;
}

Load::~Load() {
  if (flight_) fail({ErrorKind::kOutOfMemory, {"a load was given up"}});
}

int Load::count_led() noexcept {
  return led_count;
}

std::shared_ptr<Flight> Load::end() noexcept {
  --led_count;
  return std::move(flight_);
}

void Load::set_aside(std::size_t bytes, std::size_t value_bytes_min) noexcept {
  const Store::Lock lock(*store_);
  store_->set_aside(*flight_, bytes, value_bytes_min);
}

Value Load::succeed(std::shared_ptr<Payload> payload, std::size_t value_bytes) noexcept {
  const std::shared_ptr<Flight> flight = end();
  Value value = value_of(payload);
  const Store::Lock lock(*store_);
  if (flight->life != store_->life_) return value;
  store_->in_flight_bytes_ -= std::exchange(flight->set_aside_bytes, 0);
  store_->counts_.loaded_bytes += value_bytes;
  bool is_kept = false;
  try {
    is_kept = store_->keep(*flight, payload, value_bytes);
  } catch (const std::bad_alloc&) {
    is_kept = false;
  }
  if (!is_kept) ++store_->counts_.unkept_count;
  store_->land(flight, value);
  return value;
}

void Load::fail(Error error) noexcept {
  const std::shared_ptr<Flight> flight = end();
  const Store::Lock lock(*store_);
  if (flight->life != store_->life_) return;
  store_->in_flight_bytes_ -= std::exchange(flight->set_aside_bytes, 0);
  store_->land(flight, std::move(error));
}

}  // namespace iceblink::client::cache
