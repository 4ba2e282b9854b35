#include "client/object_reads.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "client/file_errors.h"
#include "client/guard.h"

namespace iceblink::client {
namespace {

/// A reader's words, with the stored location in them instead of the mapped one.
Error told_of(const ObjectRead& read, const Error& error) {
  const std::string& location = *read.location;
  if (error.kind() == ErrorKind::kNotFound) return file_not_found(location);
  std::string message = error.message();
  if (read.object != location && !read.object.empty()) {
    for (auto at = message.find(read.object); at != std::string::npos;
         at = message.find(read.object, at + location.size())) {
      message.replace(at, read.object.size(), location);
    }
  }
  if (message.find(location) == std::string::npos) message = location + ": " + message;
  return {error.kind(), std::move(message)};
}

Result<iceberg::ByteBuffer> content_of(const ObjectRead& read, Result<std::string>& got,
                                       std::size_t bytes_max, const BytesWanted& wanted) {
  if (!got) return told_of(read, got.error());
  if (got->size() > bytes_max) return file_too_large(*read.location, bytes_max);
  if (wanted) wanted(read.index, got->size());
  iceberg::ByteBuffer content{std::string_view(*got)};
  *got = std::string();  // not all of a batch twice
  return content;
}

/// `reads` are all of one reader.
Status ask(std::span<ObjectRead> reads, std::size_t bytes_max, const BytesWanted& wanted) {
  std::vector<std::string> objects;
  objects.reserve(reads.size());
  for (const ObjectRead& read : reads) objects.push_back(read.object);
  const Error unanswered{ErrorKind::kIo, "its reader gave no answer"};
  std::vector<Result<std::string>> contents(reads.size(), unanswered);
  try {
    reads.front().reader->read(objects, bytes_max, contents);
  } catch (const std::exception& error) {
    const Error thrown{ErrorKind::kIo, {"its reader failed: ", error.what()}};
    contents.assign(reads.size(), thrown);
  } catch (...) {
    contents.assign(reads.size(), Error{ErrorKind::kIo, "its reader failed"});
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    *reads[i].content =
        guarded([&] { return content_of(reads[i], contents[i], bytes_max, wanted); });
  }
  return Ok{};
}

}  // namespace

void read_objects(std::span<ObjectRead> reads, std::size_t bytes_max,
                  const BytesWanted& wanted) noexcept {
  std::sort(reads.begin(), reads.end(), [](const ObjectRead& a, const ObjectRead& b) {
    return std::less<>()(a.reader, b.reader) || (a.reader == b.reader && a.index < b.index);
  });
  while (!reads.empty()) {
    const auto end = std::find_if(reads.begin(), reads.end(), [&](const ObjectRead& read) {
      return read.reader != reads.front().reader;
    });
    const auto own = reads.first(static_cast<std::size_t>(end - reads.begin()));
    if (const auto status = guarded([&] { return ask(own, bytes_max, wanted); }); !status) {
      for (const ObjectRead& read : own) *read.content = status.error();
    }
    reads = reads.subspan(own.size());
  }
}

}  // namespace iceblink::client
