// What the model remembers of memory, by address. Of one run of a scenario.
#pragma once

#include "tests/relacy/relacy.h"
// (above: Relacy wants its own headers first)
#include <array>
#include <cstdint>
#include <cstdlib>

namespace iceblink::relacy {

inline constexpr int kThreadsMax = 8;
inline constexpr std::size_t kGranuleBytes = 8;

using Model = rl::generic_atomic<std::uint64_t, true>;

/// Leads to a private member of Relacy's.
rl::atomic_data* data_of(Model& model);
template <rl::atomic_data* Model::*kMember>
struct ModelData {
  friend rl::atomic_data* data_of(Model& model) { return model.*kMember; }
};
template struct ModelData<&Model::impl_>;

/// Relacy carries on what a thread released by its later relaxed stores, as C++11 did. In C++20
/// they release nothing.
template <int kThreads>
void end_release_sequence(Model& model) {
  auto& data = *static_cast<rl::atomic_data_impl<kThreads>*>(data_of(model));
  auto& newest = data.history_[data.current_index_ % rl::atomic_history_size];
  const auto* thread = static_cast<rl::thread_info<kThreads>*>(rl::ctx().threadx_);
  for (int i = 0; i < kThreads; ++i) newest.acq_rel_order_[i] = thread->release_fence_order_[i];
}

/// An atomic word. It begins with what lies in memory, which every thread may see: the zeros of a
/// fresh page, or what was stored before the threads began.
struct Word {
  explicit Word(std::uint64_t initial) : base(initial) {}
  const std::uint64_t base;
  Model model;  // value ^ base
  rl::waitset<kThreadsMax> sleepers;

  void store(std::uint64_t value, rl::memory_order order, const rl::debug_info& info) {
    model.store(value ^ base, order, info);
    if (order != rl::mo_relaxed) return;
    if (rl::ctx().get_thread_count() == 3) {
      end_release_sequence<3>(model);
    } else {
      end_release_sequence<4>(model);
    }
  }
  [[nodiscard]] std::uint64_t newest() const { return model.debug_value() ^ base; }
};

/// What is known of eight bytes of memory, or of one atomic word.
struct Granule {
  std::uintptr_t address = 0;  // 0: a free place of the table
  Word* word = nullptr;
  rl::var<unsigned>* plain = nullptr;
  bool is_buried = false;
};

/// Open addressing; emptied after each run of a scenario.
class Granules {
 public:
  Granule* find(std::uintptr_t address) {
    Granule& place = at(address);
    return place.address == address ? &place : nullptr;
  }
  Granule& make(std::uintptr_t address) {
    Granule& place = at(address);
    if (place.address == 0) {
      place.address = address;
      used_[used_count_++] = static_cast<std::uint32_t>(&place - table_.data());
      if (used_count_ == used_.size()) std::abort();
    }
    return place;
  }
  void clear() {
    for (std::size_t i = 0; i < used_count_; ++i) {
      Granule& granule = table_[used_[i]];
      forget(granule);
      granule = {};
    }
    used_count_ = 0;
  }
  static void forget(Granule& granule) {
    if (granule.word != nullptr) granule.word->~Word();
    if (granule.plain != nullptr) granule.plain->~var();
    std::free(granule.word);
    std::free(granule.plain);
    granule.word = nullptr;
    granule.plain = nullptr;
  }

 private:
  Granule& at(std::uintptr_t address) {
    std::size_t i = (address >> 2) * 0x9e3779b97f4a7c15 >> 46;
    while (table_[i].address != 0 && table_[i].address != address) i = (i + 1) % table_.size();
    return table_[i];
  }
  std::array<Granule, std::size_t{1} << 18> table_;
  std::array<std::uint32_t, std::size_t{1} << 17> used_;
  std::size_t used_count_ = 0;
};

/// Mutexes and condition variables, by address.
template <typename Model>
class ByAddress {
 public:
  Model& of(const void* address) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].address == address) return *entries_[i].model;
    }
    if (count_ == entries_.size()) std::abort();
    auto* model = ::new (std::malloc(sizeof(Model))) Model;
    entries_[count_++] = {address, model};
    return *model;
  }
  void clear() {
    for (; count_ > 0; --count_) {
      entries_[count_ - 1].model->~Model();
      std::free(entries_[count_ - 1].model);
    }
  }

 private:
  struct Entry {
    const void* address;
    Model* model;
  };
  std::array<Entry, 64> entries_;
  std::size_t count_ = 0;
};

}  // namespace iceblink::relacy
