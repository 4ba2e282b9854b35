// The client's cache beside its readers: the index of a stripe is made, entries come and are
// evicted, and what left is destroyed while others may just have found it.
#include "client/cache/store.h"
#include "tests/relacy/model_memory.h"
#include "tests/relacy/scenario_list.h"

namespace iceblink::relacy {
namespace {

using client::cache::Store;
using client::cache::Ticket;
using client::cache::Value;

constexpr std::size_t kValueBytes = 3000;  // two of them fit
constexpr std::string_view kKeys[] = {"a", "b", "c", "d"};

class Cache : public Scenario {
 public:
  [[nodiscard]] int threads() const override { return 3; }
  [[nodiscard]] bool has_builder() const override { return false; }
  void prepare() override {
    store_ = Store::make({.bytes_max = 8 << 10, .entry_bytes_max = 8 << 10});
  }
  void run(int thread) override {
    if (thread == 0) {
      for (std::uint64_t i = 0; i < std::size(kKeys); ++i) load(i);
    } else {
      for (std::uint64_t i = 0; i < std::size(kKeys); ++i) look_up(i);
    }
  }
  void finish() override {
    store_->close();
    store_.reset();
  }

 private:
  static std::uint64_t hash_of(std::uint64_t number) { return (number + 1) * 0x9e3779b97f4a7c15; }
  void load(std::uint64_t number) {
    const std::uint64_t hash = hash_of(number);
    Ticket ticket = store_->start(hash, kKeys[number], 0);
    expect(ticket.load.has_value(), "nobody else loads");
    ticket.load->set_aside(kValueBytes, kValueBytes);
    static_cast<void>(ticket.load->succeed(
        store_->make_payload(std::make_shared<const std::uint64_t>(number)), kValueBytes));
    expect(store_->find_kept(hash, kKeys[number], 0) != nullptr, "it is kept, and has a handle");
  }
  void look_up(std::uint64_t number) {
    Value value;
    {
      const shm::MarkedSection section;
      expect(section.ok(), "a thread is registered");
      value = store_->find(hash_of(number), 0,
                           [&](std::string_view key) { return key == kKeys[number]; });
    }
    if (value == nullptr) return;
    expect(*static_cast<const std::uint64_t*>(value.get()) == number, "what was kept is found");
  }

  std::shared_ptr<Store> store_;
};

}  // namespace

std::unique_ptr<Scenario> make_cache_scenario(std::string_view) {
  return std::make_unique<Cache>();
}

}  // namespace iceblink::relacy
