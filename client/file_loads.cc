#include "client/file_loads.h"

#include <algorithm>

namespace iceblink::client {
namespace {

using cache::Load;
using cache::Store;
using cache::Value;

/// Files of a batch that are read at a time: as many as were a piece of this size the last time.
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;
constexpr std::size_t kFilesOfFirstPiece = 16;
constexpr std::size_t kFilesPerPieceMax = 64;

[[nodiscard]] std::size_t files_of_next_piece(std::span<const FileRead> files) {
  std::size_t bytes = 0;
  for (const FileRead& file : files) bytes += file.content ? file.content->size() : 0;
  const std::size_t fitting = kPieceBytes / (bytes / files.size() + 1);
  return std::clamp<std::size_t>(fitting, 1, kFilesPerPieceMax);
}

/// For a file of so many bytes, that is about to be read.
void set_aside(Load& load, const FileLoad& wanted, std::size_t bytes) {
  load.set_aside(bytes, wanted.value_holds_file ? bytes : wanted.value_bytes_min);
}

}  // namespace

FileLoads::Loaded FileLoads::load(const FileLoad& wanted, const Finish& finish) {
  cache::Ticket ticket = store_->start(wanted.hash, wanted.key, Store::thread_index());
  if (ticket.value) return {std::move(ticket.value)};
  if (ticket.follows) return await(wanted, 0, *ticket.follows, finish);
  return {read(wanted, 0, *ticket.load, finish)};
}

FileLoads::Loaded FileLoads::await(const FileLoad& wanted, std::size_t index, cache::Flight& flight,
                                   const Finish& finish) {
  if (auto outcome = store_->wait(flight, wanted.location)) return {std::move(*outcome), true};
  Load load = store_->start_alone(wanted.key);
  return {read(wanted, index, load, finish)};
}

Result<Value> FileLoads::read(const FileLoad& wanted, std::size_t index, Load& load,
                              const Finish& finish) {
  auto content =
      files_->read(std::string(wanted.location), file_bytes_max_,
                   [&](std::size_t, std::size_t bytes) { set_aside(load, wanted, bytes); });
  return finish(index, load, std::move(content));
}

void FileLoads::load_many(std::span<const FileLoad> wanted, std::span<Loaded> loaded,
                          const Finish& finish) {
  Batch batch{wanted, loaded, finish, {}};
  std::size_t piece = kFilesOfFirstPiece;
  for (std::size_t first = 0, count = 0; first < wanted.size(); first += count) {
    count = std::min(piece, wanted.size() - first);
    const std::size_t next = load_piece(batch, first, count);
    if (next > 0) piece = next;
  }
  // Only now that this call leads no load: two batches may wait for each other's.
  for (const Awaited& each : batch.awaited) {
    loaded[each.index] = await(wanted[each.index], each.index, *each.flight, finish);
  }
}

std::size_t FileLoads::load_piece(Batch& batch, std::size_t first, std::size_t count) {
  struct Led {
    std::size_t index;
    Load load;
  };
  std::vector<Led> led;
  std::vector<FileRead> files;
  led.reserve(count);
  files.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) {
    const FileLoad& each = batch.wanted[i];
    cache::Ticket ticket = store_->start(each.hash, each.key, Store::thread_index());
    if (ticket.value) {
      batch.loaded[i] = {std::move(ticket.value)};
    } else if (ticket.follows) {
      batch.awaited.push_back({i, std::move(ticket.follows)});
    } else {
      led.push_back({i, std::move(*ticket.load)});
      files.push_back({std::string(each.location)});
    }
  }
  if (files.empty()) return 0;
  files_->read_many(files, file_bytes_max_, [&](std::size_t index, std::size_t bytes) {
    set_aside(led[index].load, batch.wanted[led[index].index], bytes);
  });
  const std::size_t next_count = files_of_next_piece(files);
  for (std::size_t i = 0; i < led.size(); ++i) {
    const std::size_t index = led[i].index;
    batch.loaded[index] = {batch.finish(index, led[i].load, std::move(files[i].content))};
  }
  return next_count;
}

}  // namespace iceblink::client
