// A store whose commits a test can hold up, or fail.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/store.h"

namespace iceblink::daemon {

/// Around a real store.
class TamperedStore final : public Store {
 public:
  explicit TamperedStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  /// Called before each commit, on the committer's thread; an error is what the commit says.
  std::function<Status(const std::vector<LoggedChange>&)> before_commit;
  std::atomic<int> grow_count{0};
  /// What commits say that their sync took; zero: the truth.
  std::chrono::nanoseconds sync_time{0};

  [[nodiscard]] shm::Id store_uuid() const noexcept override { return store_->store_uuid(); }
  [[nodiscard]] std::uint64_t hash_seed() const noexcept override { return store_->hash_seed(); }
  [[nodiscard]] std::uint64_t incarnation() const noexcept override {
    return store_->incarnation();
  }
  Status grow() override {
    grow_count.fetch_add(1, std::memory_order_relaxed);
    return store_->grow();
  }
  [[nodiscard]] Extent extent() const noexcept override { return store_->extent(); }
  Status advance_past(std::uint64_t seen) override { return store_->advance_past(seen); }
  Status renew_incarnation() override { return store_->renew_incarnation(); }
  [[nodiscard]] Result<std::unique_ptr<Reading>> read() const override { return store_->read(); }
  [[nodiscard]] Status copy_to(int fd) const override { return store_->copy_to(fd); }
  [[nodiscard]] Result<std::unique_ptr<Writing>> write() override {
    auto writing = store_->write();
    if (!writing) return writing.error();
    return std::unique_ptr<Writing>(new Tampered(*this, std::move(writing).value()));
  }

 private:
  class Tampered final : public Writing {
   public:
    Tampered(TamperedStore& owner, std::unique_ptr<Writing> writing)
        : owner_(owner), writing_(std::move(writing)) {}
    Status begin_part() override { return writing_->begin_part(); }
    Status commit_part() override { return writing_->commit_part(); }
    Status abort_part() override { return writing_->abort_part(); }
    [[nodiscard]] bool map_full() const noexcept override { return writing_->map_full(); }
    [[nodiscard]] Result<std::optional<Properties>> find_namespace(
        const Namespace& levels) const override {
      return writing_->find_namespace(levels);
    }
    [[nodiscard]] Result<std::optional<TableRow>> find_table(
        const TableIdent& ident) const override {
      return writing_->find_table(ident);
    }
    [[nodiscard]] Result<std::optional<TableRow>> find_view(
        const TableIdent& ident) const override {
      return writing_->find_view(ident);
    }
    [[nodiscard]] Result<bool> has_children(const Namespace& levels) const override {
      return writing_->has_children(levels);
    }
    Status put_namespace(const Namespace& levels, const Properties& properties) override {
      return writing_->put_namespace(levels, properties);
    }
    Status erase_namespace(const Namespace& levels) override {
      return writing_->erase_namespace(levels);
    }
    Status put_table(const TableIdent& ident, const TableRow& row) override {
      return writing_->put_table(ident, row);
    }
    Status erase_table(const TableIdent& ident) override { return writing_->erase_table(ident); }
    Status put_view(const TableIdent& ident, const TableRow& row) override {
      return writing_->put_view(ident, row);
    }
    Status erase_view(const TableIdent& ident) override { return writing_->erase_view(ident); }
    [[nodiscard]] Result<bool> can_put_answer(std::int64_t now_ms) override {
      return writing_->can_put_answer(now_ms);
    }
    Status put_answer(const IdempotencyKey& key, const StoredAnswer& answer) override {
      return writing_->put_answer(key, answer);
    }
    [[nodiscard]] std::uint64_t generation() const noexcept override {
      return writing_->generation();
    }
    [[nodiscard]] Status commit(const std::vector<LoggedChange>& changes) override {
      if (owner_.before_commit) ICEBLINK_RETURN_IF_ERROR(owner_.before_commit(changes));
      return writing_->commit(changes);
    }
    [[nodiscard]] std::chrono::nanoseconds sync_time() const noexcept override {
      return owner_.sync_time.count() > 0 ? owner_.sync_time : writing_->sync_time();
    }

   private:
    TamperedStore& owner_;
    std::unique_ptr<Writing> writing_;
  };

  std::unique_ptr<Store> store_;
};

}  // namespace iceblink::daemon
