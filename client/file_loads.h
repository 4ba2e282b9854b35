// Misses of a cache whose values are made of files: one at a time by key, whoever asks, and many
// read together.
//
// Thread safety: all of it.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cache/store.h"
#include "client/file_reader.h"

namespace iceblink::client {

/// What is to be loaded. Borrows.
struct FileLoad {
  std::uint64_t hash = 0;
  std::string_view key;
  std::string_view location;
  std::size_t value_bytes_min = 0;  ///< that the value will weigh at least, as far as is known
  bool value_holds_file = false;    ///< then it weighs as much, at least
};

class FileLoads {
 public:
  /// What a load came to, and whether another call led it: the file may have become right since.
  struct Loaded {
    Result<cache::Value> value{cache::Value()};
    bool was_awaited = false;
  };

  /// Ends the load with what the file's content makes, or with why there is none. `index` is that
  /// of the batch.
  using Finish = std::function<Result<cache::Value>(std::size_t index, cache::Load& load,
                                                    Result<iceberg::ByteBuffer> content)>;

  FileLoads(std::shared_ptr<cache::Store> store, std::shared_ptr<FileReader> files,
            std::size_t file_bytes_max) noexcept
      : store_(std::move(store)), files_(std::move(files)), file_bytes_max_(file_bytes_max) {}

  /// What is there after all, or what the file makes, or another thread's load comes to. Errors:
  /// those of FileReader::read and of `finish`; kUnsupported: this very load asks for it again,
  /// through an ObjectReader. Throws std::bad_alloc.
  [[nodiscard]] Loaded load(const FileLoad& wanted, const Finish& finish);
  /// All of them, read together in pieces; `loaded` is as long as `wanted`. Throws std::bad_alloc.
  void load_many(std::span<const FileLoad> wanted, std::span<Loaded> loaded, const Finish& finish);

 private:
  /// A load that somebody else does, of the element of a batch.
  struct Awaited {
    std::size_t index = 0;
    std::shared_ptr<cache::Flight> flight;
  };
  struct Batch {
    std::span<const FileLoad> wanted;
    std::span<Loaded> loaded;
    const Finish& finish;
    std::vector<Awaited> awaited;
  };

  /// What comes of another call's load; where that cannot be waited for, of one of its own.
  [[nodiscard]] Loaded await(const FileLoad& wanted, std::size_t index, cache::Flight& flight,
                             const Finish& finish);
  [[nodiscard]] Result<cache::Value> read(const FileLoad& wanted, std::size_t index,
                                          cache::Load& load, const Finish& finish);
  /// Those from `first` on; how many the next piece is to have.
  [[nodiscard]] std::size_t load_piece(Batch& batch, std::size_t first, std::size_t count);

  const std::shared_ptr<cache::Store> store_;
  const std::shared_ptr<FileReader> files_;
  const std::size_t file_bytes_max_;
};

}  // namespace iceblink::client
