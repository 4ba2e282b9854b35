// The control page: making one, checking one.
//
// A page appears complete or not at all: it is built under another name, its magic stored last,
// with its root already set, and then linked (first start) or renamed over the old one (replaced
// on purpose). There is no "empty" state.
//
// Thread safety: pure functions over bytes, and file operations of the one publisher.
#pragma once

#include <iceblink/result.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "shm/file_mapping.h"
#include "shm/layout.h"

namespace iceblink::shm {

/// The page, if the bytes are one that this program understands. kCorrupt, kIncompatible (prints
/// both versions). `name` is for messages.
[[nodiscard]] Result<const ControlPage*> check_control(std::span<const std::byte> bytes,
                                                       std::string_view name);

enum class ControlPlacement : std::uint8_t {
  kNew,      // fails with kAlreadyExists when the name is taken
  kReplace,  // takes the place of whatever has the name
};

/// A complete control page under another name. It goes with the object until it is placed.
class ControlDraft {
 public:
  /// kNoSpace, kNotAllowed, kIo, kAlreadyExists.
  [[nodiscard]] static Result<ControlDraft> make(const std::string& directory, const Id& control_id,
                                                 const Id& store_uuid, RootWord root);
  ControlDraft(ControlDraft&& other) noexcept
      : directory_(std::exchange(other.directory_, {})), mapping_(std::move(other.mapping_)) {}
  ControlDraft& operator=(ControlDraft&&) = delete;
  ~ControlDraft();

  /// Gives it its name. Returns the writable mapping. kAlreadyExists, kNotAllowed, kIo.
  [[nodiscard]] Result<WriteMapping> place(ControlPlacement placement) &&;

 private:
  ControlDraft(std::string directory, WriteMapping mapping)
      : directory_(std::move(directory)), mapping_(std::move(mapping)) {}

  std::string directory_;  // empty: moved from
  WriteMapping mapping_;
};

/// Removes what an interrupted ControlDraft left.
void sweep_control_drafts(const std::string& directory) noexcept;

[[nodiscard]] Id random_id();
/// Lower-case hexadecimal with dashes.
[[nodiscard]] std::string to_string(const Id& id);

}  // namespace iceblink::shm
