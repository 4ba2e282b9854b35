#include "shm/control_page.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>

#include "shm/key.h"

namespace iceblink::shm {
namespace {

constexpr const char* kDraftName = "control.new";

std::uint64_t checksum_of(const ControlPage& page) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&page);
  constexpr std::size_t kFrom = sizeof(page.magic);
  return XXH3_64bits(bytes + kFrom, offsetof(ControlPage, checksum) - kFrom);
}

}  // namespace

Result<const ControlPage*> check_control(std::span<const std::byte> bytes, std::string_view name) {
  const auto corrupt = [&](const std::string& what) -> Error {
    return {ErrorKind::kCorrupt, std::string(name) + ": " + what};
  };
  if (bytes.size() != kControlBytes) {
    return corrupt("a control page has " + std::to_string(kControlBytes) + " bytes, this has " +
                   std::to_string(bytes.size()));
  }
  const auto* page = reinterpret_cast<const ControlPage*>(bytes.data());
  // SYNC control-magic: acquires the page's static header; partner ControlDraft::make
  if (page->magic.load(std::memory_order_acquire) != kControlMagic) {
    return corrupt("not an iceblink control page (wrong magic)");
  }
  if (page->byte_order != kByteOrderMark) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": written with another byte order"};
  }
  if (page->layout_version != kLayoutVersion) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": has layout version " +
                                               std::to_string(page->layout_version) +
                                               ", this program reads version " +
                                               std::to_string(kLayoutVersion)};
  }
  if (checksum_of(*page) != page->checksum) return corrupt("the header's checksum does not match");
  if ((page->features_required & ~kKnownRequiredFeatures) != 0) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": needs feature bits " +
                                               std::to_string(page->features_required) +
                                               ", this program knows " +
                                               std::to_string(kKnownRequiredFeatures)};
  }
  return page;
}

Result<ControlDraft> ControlDraft::make(const std::string& directory, const Id& control_id,
                                        const Id& store_uuid, RootWord root) {
  ICEBLINK_ASSIGN_OR_RETURN(WriteMapping mapping,
                            WriteMapping::create(directory + "/" + kDraftName, kControlBytes));
  ControlDraft draft(directory, std::move(mapping));
  auto* page = ::new (draft.mapping_.bytes().data()) ControlPage;
  page->layout_version = kLayoutVersion;
  page->byte_order = kByteOrderMark;
  page->features_required = 0;
  page->features_optional = 0;
  page->control_id = control_id;
  page->store_uuid = store_uuid;
  page->checksum = checksum_of(*page);
  // relaxed: the magic below releases it
  page->root.store(root, std::memory_order_relaxed);
  // SYNC control-magic: releases everything above; partner check_control
  page->magic.store(kControlMagic, std::memory_order_release);
  return draft;
}

ControlDraft::~ControlDraft() {
  if (!directory_.empty()) sweep_control_drafts(directory_);
}

Result<WriteMapping> ControlDraft::place(ControlPlacement placement) && {
  const std::string path = directory_ + "/" + kControlName;
  const std::string draft = directory_ + "/" + kDraftName;
  const int failed = placement == ControlPlacement::kNew ? ::link(draft.c_str(), path.c_str())
                                                         : ::rename(draft.c_str(), path.c_str());
  if (failed != 0) return system_error(path, errno);
  return std::move(mapping_);
}

void sweep_control_drafts(const std::string& directory) noexcept {
  ::unlink((directory + "/" + kDraftName).c_str());
}

Id random_id() {
  Id id{};
  while (::getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
  }
  return id;
}

std::string to_string(const Id& id) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[id[i] >> 4];
    text += kHex[id[i] & 15];
  }
  return text;
}

}  // namespace iceblink::shm
