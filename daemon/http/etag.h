// Entity tags of tables: made from the pointer alone, so that no file is opened to compare them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/store.h"

namespace iceblink::daemon::http {

/// Which snapshots a client asked to see; each is a representation with a tag of its own.
enum class SnapshotMode : std::uint8_t { kAll, kRefs };

/// A quoted strong tag: differs when location, table uuid, fingerprint or mode differ. An
/// unverified pointer (fingerprint zero) counts its generation in, since a path may be re-used.
[[nodiscard]] std::string etag_of(const TableRow& row, SnapshotMode mode);

/// If-None-Match: a list of tags, compared without W/ and quotes; "*" matches any.
[[nodiscard]] bool etag_matches(std::string_view if_none_match, std::string_view etag);

}  // namespace iceblink::daemon::http
