// The scenarios: the daemon's publisher and the library's segment, as they are shipped, in a
// directory of their own.
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "client/cli/verify/live_objects.h"
#include "shm/publisher.h"
#include "shm/segment.h"
#include "tests/relacy/model_memory.h"
#include "tests/relacy/scenario_list.h"

namespace iceblink::relacy {
namespace {

using shm::Change;
using shm::EncodedKey;
using shm::FindStatus;
using shm::Found;
using shm::Publisher;
using shm::RecordKind;
using shm::RecordView;
using shm::Segment;
using std::chrono::hours;

constexpr std::string_view kNamespace = "n";
constexpr std::string_view kTableA{"n\0a", 3};
constexpr std::string_view kTableB{"n\0b", 3};
constexpr std::string_view kNewTable{"n\0c", 3};
constexpr std::string_view kNewNamespace = "m";
constexpr std::string_view kDeepTable{"m\0d", 3};

constexpr std::array<std::string_view, 10> kLocations{"v0", "v1", "v2", "v3", "v4",
                                                      "v5", "v6", "v7", "v8", "v9"};

/// A version that says of itself by which generation it was made.
Change version(std::string_view key, std::uint64_t generation) {
  const bool is_namespace = key.find('\0') == std::string_view::npos;
  Change change{.kind = is_namespace ? RecordKind::kNamespace : RecordKind::kTable,
                .key = key,
                .location = is_namespace ? std::string_view() : kLocations[generation],
                .generation = generation};
  change.table_uuid.fill(static_cast<std::uint8_t>(generation));
  return change;
}

/// The catalog of the first generation: a namespace and two tables.
class Store : public shm::CatalogSource {
 public:
  explicit Store(std::uint64_t generation) : generation_(generation) {}
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }
  [[nodiscard]] Status for_each(const std::function<Status(const Change&)>& visit) const override {
    for (const auto key : {kNamespace, kTableA, kTableB}) {
      ICEBLINK_RETURN_IF_ERROR(visit(version(key, generation_)));
    }
    return Ok{};
  }

 private:
  const std::uint64_t generation_;
};

/// A publisher of its own thread (0), and readers as other processes.
class World : public Scenario {
 public:
  explicit World(std::string_view directory) : directory_(directory) {}
  [[nodiscard]] int threads() const override { return 3; }
  void prepare() override {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      ::unlink(entry.path().c_str());
    }
    open_publisher(1);
    segment_ = attach();
  }
  void run(int thread) override {
    if (thread == 0) {
      write();
      publisher_.reset();
    } else {
      read();
    }
  }
  void finish() override {
    publisher_.reset();
    segment_.reset();
  }

 protected:
  virtual void write() = 0;
  virtual void read() = 0;

  using OnForeignControl = shm::PublisherOptions::OnForeignControl;
  void open_publisher(std::uint64_t generation,
                      OnForeignControl on_foreign = OnForeignControl::kRefuse) {
    shm::PublisherOptions options;
    options.runtime_dir = directory_;
    options.store_uuid.fill(7);
    options.hash_seed = 1;
    options.daemon_version = "0";
    options.on_foreign_control = on_foreign;
    options.headroom_bytes_min = std::uint64_t{64} << 10;
    options.linger = std::chrono::milliseconds(0);
    auto publisher = Publisher::open(std::move(options));
    expect_ok(publisher, "a publisher opens");
    publisher_ = std::move(*publisher);
    expect(publisher_->start(Store(generation), 1).ok(), "a publisher starts");
  }
  std::unique_ptr<Segment> attach() {
    auto segment = Segment::attach(directory_, hours(1));
    expect_ok(segment, "a reader attaches");
    return std::move(*segment);
  }
  void commit(std::uint64_t generation, std::initializer_list<std::string_view> keys) {
    std::array<Change, 3> changes;
    std::size_t count = 0;
    for (const auto key : keys) changes[count++] = version(key, generation);
    expect(publisher_->reserve({changes.data(), count}).ok(), "there is room");
    publisher_->publish(generation, {changes.data(), count});
  }
  void flip() { expect(publisher_->flip().ok(), "the arena is replaced"); }

  template <typename T>
  static void expect_ok(const Result<T>& result, const char* what) {
    expect(result.ok(), result.ok() ? what : result.error().message().c_str());
  }
  static void expect_version(const Found& found, std::uint64_t generation) {
    expect(found.status == FindStatus::kFound, "a live key is found");
    expect(found.record.generation() == generation, "of the generation that was asked for");
    expect(found.record.location() == kLocations[generation], "with its location");
    expect(found.record.table_uuid()[15] == generation, "and its table");
  }
  static Found find(const shm::ArenaView& arena, std::string_view key, std::uint64_t generation) {
    const EncodedKey encoded{key};
    return arena.find(encoded, encoded.hash(arena.hash_seed()), generation);
  }
  /// So that the calling thread's sections are the quick ones, unless the root moves to an arena.
  static void put_off_place_checks() { shm::thread_slot()->check_at = ~std::uint64_t{0}; }
  /// Both tables, which every commit changes. Returns the generation.
  static std::uint64_t read_tables(Segment& segment) {
    const Segment::Section section(segment);
    if (!section.ok()) expect(false, section.error().message().c_str());
    const std::uint64_t generation = section.generation();
    for (const auto key : {kTableA, kTableB}) {
      expect_version(find(section.arena(), key, generation), generation);
    }
    return generation;
  }
  /// The same again and again: never back.
  static void read_tables(Segment& segment, int times) {
    std::uint64_t last = 0;
    for (; times > 0; --times) {
      const std::uint64_t generation = read_tables(segment);
      expect(generation >= last, "a reader's generation never goes back");
      last = generation;
    }
  }

  const std::string directory_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Segment> segment_;
};

class Lookup : public World {
 public:
  using World::World;
  void write() override {
    commit(2, {kTableA, kTableB});
    commit(3, {kTableA, kTableB});
  }
  void read() override {
    put_off_place_checks();
    read_tables(*segment_, 3);
  }
};

class Listing : public World {
 public:
  using World::World;
  void write() override { commit(2, {kNewTable, kNewNamespace, kDeepTable}); }
  void read() override {
    put_off_place_checks();
    for (int i = 0; i < 2; ++i) {
      const Segment::Section section(*segment_);
      const std::uint64_t generation = section.generation();
      const bool is_new = generation == 2;
      int tables = 0;
      const auto count = [&](const RecordView& record) {
        expect(record.generation() == (record.key() == kNewTable ? 2 : 1), "a listed version");
        ++tables;
      };
      expect(section.arena().visit_tables(kNamespace, generation, count) == FindStatus::kFound &&
                 tables == (is_new ? 3 : 2),
             "the tables of a namespace, each once");
      int namespaces = 0;
      expect(section.arena().visit_namespaces(
                 "", generation, [&](const RecordView&) { ++namespaces; }) == FindStatus::kFound &&
                 namespaces == (is_new ? 2 : 1),
             "the namespaces, each once");
      int deep = 0;
      const FindStatus found = section.arena().visit_tables(kNewNamespace, generation,
                                                            [&](const RecordView&) { ++deep; });
      expect(
          found == (is_new ? FindStatus::kFound : FindStatus::kAbsent) && deep == (is_new ? 1 : 0),
          "a new namespace with its table, or neither");
    }
  }
};

/// Every name, in the order of the index.
class Names : public World {
 public:
  using World::World;
  void write() override { commit(2, {kNewTable, kNewNamespace, kDeepTable}); }
  void read() override {
    put_off_place_checks();
    const auto pinned = segment_->pin();
    expect(pinned.ok(), "a snapshot is pinned");
    int names = 0;
    expect(cli::visit_live_objects(*pinned, [&](const RecordView&) { ++names; }), "a sound index");
    expect(names == (pinned->generation == 2 ? 6 : 3), "every name, once");
  }
};

class Feed : public World {
 public:
  using World::World;
  void write() override {
    commit(2, {kTableA, kTableB});
    commit(3, {kTableA, kTableB});
  }
  void read() override {
    put_off_place_checks();
    const Segment::Section section(*segment_);
    const std::uint64_t generation = section.generation();
    std::uint64_t changes = 0;
    std::uint64_t last = 1;
    const auto visit = [&](const RecordView& record) {
      if (record.generation() > generation) return;
      expect(record.generation() >= last, "changes come in order");
      expect(record.location() == kLocations[record.generation()], "with their locations");
      last = record.generation();
      ++changes;
    };
    const std::uint64_t tail = section.arena().published_tail();
    expect(section.arena().visit_changes(tail, visit) == FindStatus::kFound, "a sound feed");
    expect(changes == 2 * (generation - 1), "every change of the generations up to the root's");
  }
};

class Flip : public World {
 public:
  using World::World;
  void write() override {
    commit(2, {kTableA, kTableB});
    flip();
    commit(3, {kTableA, kTableB});
  }
  void read() override {
    auto pinned = segment_->pin();
    expect(pinned.ok(), "a snapshot is pinned");
    read_tables(*segment_, 3);
    expect_version(find(pinned->mapping->arena, kTableA, pinned->generation), pinned->generation);
  }
};

/// Commits come in while the builder copies: it catches up.
class FlipBesideCommits : public World {
 public:
  using World::World;
  [[nodiscard]] int threads() const override { return 4; }
  void run(int thread) override {
    if (thread == 3) {
      flip();
    } else if (thread == 0) {
      commit(2, {kTableA, kTableB});
      commit(3, {kTableA, kTableB});
    } else {
      read();
      return;
    }
    lock(&users_);
    const bool is_last = ++gone_ == 2;
    unlock(&users_);
    if (is_last) publisher_.reset();
  }
  void prepare() override {
    gone_ = 0;
    World::prepare();
  }
  void write() override {}
  void read() override { read_tables(*segment_, 2); }

 private:
  int users_ = 0;
  int gone_ = 0;
};

/// A daemon starts in a directory without a page, or goes on with the one that is there.
class Start : public World {
 public:
  using World::World;
  void prepare() override {
    World::prepare();
    finish();
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      ::unlink(entry.path().c_str());
    }
  }
  void write() override { open_publisher(2); }
  void read() override {
    const auto segment = attach();
    read_tables(*segment, 2);
  }
};

class Restart : public World {
 public:
  using World::World;
  void prepare() override {
    World::prepare();
    publisher_.reset();
  }
  void write() override { open_publisher(2); }
  void read() override {
    read_tables(*segment_, 2);
    const auto segment = attach();
    read_tables(*segment, 1);
  }
};

/// A page is replaced on purpose: readers of the old one find RETIRED, and the new page.
class Replace : public World {
 public:
  using World::World;
  void prepare() override {
    World::prepare();
    publisher_.reset();
    // Another layout, as far as this one can tell: not to be adopted.
    const std::string path = directory_ + "/" + shm::kControlName;
    auto page = shm::WriteMapping::open(path, shm::kControlBytes);
    expect(page.ok(), "the page is there");
    page->bytes()[8] = std::byte{99};
  }
  void write() override { open_publisher(2, OnForeignControl::kReplace); }
  void read() override { read_tables(*segment_, 2); }
};

class Wait : public World {
 public:
  using World::World;
  [[nodiscard]] int threads() const override { return 4; }
  void prepare() override {
    gone_ = 0;
    World::prepare();
  }
  void run(int thread) override {
    if (thread == 0) {
      commit(2, {kTableA, kTableB});
      commit(3, {kTableA, kTableB});
    } else if (thread == 3) {
      // As an answer of the daemon that may show generation 2: not before readers see it.
      publisher_->wait_published(2);
      expect(read_tables(*segment_) >= 2, "no answer overtakes the publish");
    } else {
      read();
      return;
    }
    lock(&users_);
    const bool is_last = ++gone_ == 2;
    unlock(&users_);
    if (is_last) publisher_.reset();
  }
  void write() override {}
  void read() override {
    std::uint64_t seen = 1;
    while (seen < 3) {
      const auto changed = segment_->wait_for_change(seen, hours(1));
      expect(changed.ok() && changed->has_value() && **changed > seen, "a change wakes who waits");
      seen = **changed;
    }
    expect(read_tables(*segment_) == 3, "what it waited for is there");
  }

 private:
  int users_ = 0;
  int gone_ = 0;
};

/// Two threads of one process: what one of them retires and digs up, the other may be reading.
class Retire : public World {
 public:
  using World::World;
  [[nodiscard]] int threads() const override { return 4; }
  void write() override {
    flip();
    flip();
  }
  void run(int thread) override {
    if (thread != 3) {
      World::run(thread);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      read_tables(*segment_);
      static_cast<void>(segment_->stats());  // digs
    }
  }
  void read() override { read_tables(*segment_, 3); }
};

struct Entry {
  std::string_view name;
  std::unique_ptr<Scenario> (*make)(std::string_view directory);
};
template <typename T>
std::unique_ptr<Scenario> make(std::string_view directory) {
  return std::make_unique<T>(directory);
}
constexpr Entry kScenarios[] = {
    {"lookup", make<Lookup>},       {"listing", make<Listing>},
    {"names", make<Names>},         {"feed", make<Feed>},
    {"flip", make<Flip>},           {"catch-up", make<FlipBesideCommits>},
    {"start", make<Start>},         {"restart", make<Restart>},
    {"replace", make<Replace>},     {"wait", make<Wait>},
    {"retire", make<Retire>},       {"section", make_section_scenario},
    {"cache", make_cache_scenario},
};

}  // namespace

std::vector<std::string_view> scenario_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kScenarios) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Scenario> make_scenario(std::string_view name, std::string_view directory) {
  keep_per_fiber(reinterpret_cast<void**>(&shm::read_section_internal::current_slot));
  for (const auto& entry : kScenarios) {
    if (entry.name == name) return entry.make(directory);
  }
  return nullptr;
}

}  // namespace iceblink::relacy
