// Where a run lives: a directory of its own, with the runtime directory as a small tmpfs in a mount
// namespace of this process and its children alone, where that is allowed.
//
// Thread safety: none; made before anything is forked.
#pragma once

#include <iceblink/result.h>

#include <string>

namespace iceblink::stress {

class Scratch {
 public:
  /// kIo.
  [[nodiscard]] static Result<Scratch> make(const std::string& parent, bool keeps_files);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  [[nodiscard]] std::string runtime_dir() const { return root_ + "/run"; }
  [[nodiscard]] std::string data_dir() const { return root_ + "/data"; }
  [[nodiscard]] std::string daemon_errors_file() const { return root_ + "/iceblinkd.log"; }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }
  /// False: the runtime directory is an ordinary one, for want of permission.
  [[nodiscard]] bool has_small_tmpfs() const noexcept { return is_mounted_; }
  static constexpr const char* kTmpfsSize = "2m";

 private:
  Scratch(std::string root, bool keeps_files) : root_(std::move(root)), keeps_files_(keeps_files) {}

  std::string root_;
  bool keeps_files_;
  bool is_mounted_ = false;
};

}  // namespace iceblink::stress
