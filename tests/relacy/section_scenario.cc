// Marked sections and graves, without a segment.
#include "shm/read_section.h"
#include "tests/relacy/model_memory.h"
#include "tests/relacy/scenario_list.h"

namespace iceblink::relacy {
namespace {

/// Graves alone: two threads read what a third one replaces, buries and digs up.
class Section : public Scenario {
 public:
  [[nodiscard]] int threads() const override { return 3; }
  [[nodiscard]] bool has_builder() const override { return false; }
  void prepare() override {
    owner_ = std::make_shared<int>(0);
    current_.store(owner_.get(), std::memory_order_relaxed);
  }
  void run(int thread) override {
    if (thread == 0) {
      for (int i = 1; i <= 3; ++i) replace(i);
      for (int i = 0; i < 3; ++i) graveyard_.dig();
      return;
    }
    int last = 0;
    for (int i = 0; i < 3; ++i) {
      const shm::MarkedSection section;
      expect(section.ok(), "a thread is registered");
      const int* const current = current_.load(std::memory_order_acquire);
      const int seen = *current;
      expect(seen >= last, "what is current never goes back");
      section.count(shm::ReadOutcome::kFound);  // others may run before it is read again
      expect(*current == seen, "what is current stays as it is");
      last = seen;
    }
  }
  void finish() override {
    graveyard_.dig();
    owner_.reset();
  }

 private:
  void replace(int value) {
    auto next = std::make_shared<int>(value);
    expect(graveyard_.make_room(), "there is room for a grave");
    current_.store(next.get(), std::memory_order_release);
    std::swap(owner_, next);
    graveyard_.bury(std::move(next));
    graveyard_.dig();
  }

  std::shared_ptr<int> owner_;
  shm::Atomic<const int*> current_{nullptr};
  shm::Graveyard graveyard_;
};

}  // namespace

std::unique_ptr<Scenario> make_section_scenario(std::string_view) {
  return std::make_unique<Section>();
}

}  // namespace iceblink::relacy
