// A file that is there whole and durable, or not at all: written beside its place, without a name
// where the file system allows that, synced, and put there.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/result.h>

#include <string>
#include <string_view>

namespace iceblink::cli {

class DurableFile {
 public:
  enum class IfExists : std::uint8_t { kFail, kReplace };

  /// 0600. A symbolic link stays, and what it leads to is replaced. kAlreadyExists: `path` is
  /// there, and is not to be replaced; kInvalidArgument: it is there, and no regular file;
  /// kNotFound (no such directory), kNotAllowed, kNoSpace, kIo.
  [[nodiscard]] static Result<DurableFile> create(std::string path, IfExists if_exists);
  DurableFile(DurableFile&& other) noexcept;
  /// Removes what was not committed.
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  /// kNoSpace, kIo.
  [[nodiscard]] Status write(std::string_view bytes);
  /// Once: syncs the file, puts it into its place, and syncs the directory. Errors as above.
  [[nodiscard]] Status commit();

 private:
  DurableFile(std::string path, IfExists if_exists)
      : path_(std::move(path)), if_exists_(if_exists) {}
  [[nodiscard]] Status flush();
  [[nodiscard]] std::string unnamed_path() const;
  [[nodiscard]] Status give_name();
  [[nodiscard]] Status put_where_nothing_is();
  [[nodiscard]] Status replace();

  std::string path_;
  IfExists if_exists_;
  std::string temporary_path_;  // empty while it has no name, and when it is in its place
  std::string buffer_;
  int descriptor_ = -1;
};

}  // namespace iceblink::cli
