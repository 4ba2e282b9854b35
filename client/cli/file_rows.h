// Files of a table, as the program shows them.
#pragma once

#include <iceblink/file_plan.h>
#include <iceblink/table.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "client/cli/columns.h"
#include "client/cli/output.h"
#include "iceberg/json_writer.h"

namespace iceblink::cli {

/// Of files a line each, aligned: content, format, records, size, partition, path.
class FileRows {
 public:
  /// `table` is kept by reference.
  explicit FileRows(const Table& table);

  void measure(std::span<const DataFile* const> files);
  /// Each line after `mark`.
  void print_header(LineBuffer& lines, std::string_view mark = "") const;
  void print(LineBuffer& lines, const DataFile& file, std::string_view mark = "") const;

 private:
  [[nodiscard]] AlignedRows::Row row_of(const DataFile& file) const;

  const Table& table_;
  AlignedRows rows_;
};

/// "equality deletes"
[[nodiscard]] std::string content_text(const DataFile& file);

/// How many files there are, and what they hold.
class FileCounts {
 public:
  void add(const DataFile& file);
  /// "2 data files (5 records, 4096 bytes), 1 delete file (1 record, 512 bytes)"
  [[nodiscard]] std::string text() const;

 private:
  struct Count {
    std::uint64_t files = 0;
    std::uint64_t records = 0;  // of what files say: wraps
    std::uint64_t bytes = 0;

    [[nodiscard]] std::string text(const std::string& kind) const;
  };
  Count data_;
  Count deletes_;
};

/// The members of a file's object, by the specification's names.
void write_file_members(iceberg::JsonWriter& json, const Table& table, const DataFile& file);
/// An object for a delete file of a task: what names it, and what it applies by.
void write_delete_file(iceberg::JsonWriter& json, const DataFile& file);

}  // namespace iceblink::cli
