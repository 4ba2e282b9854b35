#include "client/cache/fork_handlers.h"

#include <pthread.h>

#include <new>

#include "client/cache/store.h"
#include "shm/segment.h"

namespace iceblink::client::cache {

ForkHandlers& ForkHandlers::instance() {
  static auto* const handlers = new ForkHandlers;  // never destroyed: the handlers stay
  return *handlers;
}

ForkHandlers::ForkHandlers() {
  // What is installed later runs earlier before a fork: a store's locks are taken before the
  // registry's, as everywhere.
  shm::install_fork_handlers();
  if (::pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
}

void ForkHandlers::add(Store* store) noexcept {
  const std::lock_guard lock(mutex_);
  store->next_in_process_ = first_;
  if (first_ != nullptr) first_->previous_in_process_ = store;
  first_ = store;
}

void ForkHandlers::remove(Store* store) noexcept {
  const std::lock_guard lock(mutex_);
  Store* const next = store->next_in_process_;
  Store* const previous = store->previous_in_process_;
  if (next != nullptr) next->previous_in_process_ = previous;
  (previous != nullptr ? previous->next_in_process_ : first_) = next;
}

void ForkHandlers::before() noexcept {
  ForkHandlers& self = instance();
  self.mutex_.lock();
  for (Store* store = self.first_; store != nullptr; store = store->next_in_process_) {
    store->grave_mutex_.lock();
    store->mutex_.lock();
  }
}

void ForkHandlers::after_in_parent() noexcept {
  ForkHandlers& self = instance();
  for (Store* store = self.first_; store != nullptr; store = store->next_in_process_) {
    store->mutex_.unlock();
    store->grave_mutex_.unlock();
  }
  self.mutex_.unlock();
}

void ForkHandlers::after_in_child() noexcept {
  for (Store* store = instance().first_; store != nullptr; store = store->next_in_process_) {
    // Their threads do not exist here. Those that waited hold their flights for ever, so that no
    // condition variable is destroyed with waiters in it.
    ++store->life_;
    store->flights_.clear();
    store->in_flight_bytes_ = 0;
  }
  after_in_parent();
}

}  // namespace iceblink::client::cache
