// What the metadata of tables and of views have in common: one arena, a weight, a text.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace iceblink {

namespace iceberg {
class Arena;
class WeightObservers;
}  // namespace iceberg

class MetadataDocument;

/// Is told when a document that is shared already grows, because a part of it was asked for that
/// had stayed raw. Called by the thread that asked, after the growth; may run in several threads.
class WeightObserver {
 public:
  virtual ~WeightObserver() = default;
  virtual void grew(const MetadataDocument& document, std::size_t grown_bytes) noexcept = 0;
};

/// Limits on what is read, against documents that would take a process's memory or stack.
struct MetadataLimits {
  /// Of the file as stored.
  std::size_t document_bytes_max = std::size_t{256} << 20;
  /// Of its text, once inflated.
  std::size_t inflated_bytes_max = std::size_t{512} << 20;
  /// Nesting of JSON objects and arrays. Each struct in a column's type takes three, a list or map
  /// one.
  std::size_t depth_max = 256;
  /// Entries of any one array or object.
  std::size_t elements_max = std::size_t{16} << 20;
};

/// A parsed metadata file. Immutable but for lazy parts, which are built once and then stay; safe
/// to share between threads. Everything reached from it (views, spans, pointers) lives as long as
/// it does.
class MetadataDocument {
 public:
  enum class Kind : std::uint8_t { kTable, kView };

  MetadataDocument(const MetadataDocument&) = delete;
  MetadataDocument& operator=(const MetadataDocument&) = delete;
  virtual ~MetadataDocument();

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  /// All memory it holds, in bytes: text, values, and the lazy parts built so far. O(1).
  [[nodiscard]] std::size_t weight_bytes() const noexcept;

  /// Thread-safe, and of no effect on what the document says. Throws std::bad_alloc.
  void add_weight_observer(std::shared_ptr<WeightObserver> observer) const;
  /// One that is being told at this moment may be told to its end. Does nothing where it is none.
  void remove_weight_observer(const WeightObserver& observer) const noexcept;

 protected:
  MetadataDocument(Kind kind, std::size_t own_bytes, std::unique_ptr<iceberg::Arena> arena);

  /// Adds to the weight, and tells the observers.
  void charge(std::size_t bytes) const noexcept;
  [[nodiscard]] iceberg::Arena& arena() const noexcept { return *arena_; }

 private:
  const Kind kind_;
  const std::unique_ptr<iceberg::Arena> arena_;
  const std::unique_ptr<iceberg::WeightObservers> observers_;
  mutable std::atomic<std::size_t> weight_bytes_;  // relaxed: a count
};

}  // namespace iceblink
