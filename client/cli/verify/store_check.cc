#include "client/cli/verify/store_check.h"

#include "client/cli/verify/live_objects.h"
#include "shm/control_page.h"

namespace iceblink::cli {
namespace {

std::string_view kind_text(shm::RecordKind kind) {
  if (shm::is_namespace_class(kind)) return "a namespace";
  return kind == shm::RecordKind::kView ? "a view" : "a table";
}

/// What a row and a record say otherwise; empty where they agree.
std::string difference_of(const StoreRow& row, const shm::RecordView& record) {
  const auto differ = [](std::string_view what, const std::string& store,
                         const std::string& segment) {
    return std::string(what) + ": the store has " + store + ", the segment " + segment;
  };
  if (record.kind() != row.kind) {
    return differ("kind", std::string(kind_text(row.kind)), std::string(kind_text(record.kind())));
  }
  if (record.generation() != row.generation) {
    return differ("generation of the last change", std::to_string(row.generation),
                  std::to_string(record.generation()));
  }
  if (row.kind == shm::RecordKind::kNamespace) return {};
  if (record.location() != row.location) {
    return differ("metadata location", row.location, on_one_line(record.location()));
  }
  if (record.table_uuid() != row.table_uuid) {
    return differ("table uuid", shm::to_string(row.table_uuid),
                  shm::to_string(record.table_uuid()));
  }
  if (record.metadata_fingerprint() != row.metadata_fingerprint) {
    return differ("metadata fingerprint", shm::to_string(row.metadata_fingerprint),
                  shm::to_string(record.metadata_fingerprint()));
  }
  if (record.format_version() != row.format_version) {
    return differ("format version", std::to_string(row.format_version),
                  std::to_string(record.format_version()));
  }
  return {};
}

}  // namespace

StoreCheck::StoreCheck(shm::Segment& segment, const shm::PinnedView& begin, Problems& problems)
    : segment_(segment),
      begin_(begin),
      problems_(problems),
      told_(begin.mapping->arena.header().file_bytes / shm::kRecordAlignment) {}

Status StoreCheck::run(client::DaemonClient& daemon, Progress& progress) {
  std::optional<std::string> after;
  do {
    ICEBLINK_ASSIGN_OR_RETURN(const StorePage page, fetch_store_page(daemon, after));
    if (incarnation_ && *incarnation_ != page.incarnation) {
      return {ErrorKind::kGone, "the store became another one while it was compared"};
    }
    if (page.next && (page.rows.empty() || page.next == after)) {
      return {ErrorKind::kInternal, "the daemon's pages do not go on"};
    }
    incarnation_ = page.incarnation;
    ICEBLINK_RETURN_IF_ERROR(compare(page));
    progress.show(row_count_);
    after = page.next;
  } while (after);
  return look_for_untold();
}

Status StoreCheck::compare(const StorePage& page) {
  // After the answer: the daemon answers when what it tells is visible.
  ICEBLINK_ASSIGN_OR_RETURN(const shm::PinnedView now, segment_.pin());
  for (const StoreRow& row : page.rows) {
    note_told(row);
    compare(row, now, page.generation);
    ++row_count_;
  }
  return Ok{};
}

void StoreCheck::compare(const StoreRow& row, const shm::PinnedView& now,
                         std::uint64_t generation) {
  const std::string name = name_of_key(row.key);
  if (now.generation < generation) {
    problems_.add(name + ": the store is at generation " + std::to_string(generation) +
                  ", the segment at " + std::to_string(now.generation));
    return;
  }
  const bool goes_back = now.mapping->arena.base_generation() <= generation;
  const shm::RecordView record = find_key(now, row.key, goes_back ? generation : now.generation);
  if (!record) {
    if (record.miss() == shm::FindStatus::kCorrupt) {
      problems_.add(name + ": the segment is damaged");
    } else if (goes_back) {
      problems_.add(name + ": is in the store and not in the segment");
    }
    return;
  }
  if (!goes_back && record.generation() > generation) return;  // has changed since
  const std::string difference = difference_of(row, record);
  if (!difference.empty()) problems_.add(name + ": " + difference);
}

void StoreCheck::note_told(const StoreRow& row) {
  const shm::RecordView record = find_key(begin_, row.key, begin_.generation);
  if (record) told_[record.offset() / shm::kRecordAlignment] = true;
}

Status StoreCheck::look_for_untold() {
  ICEBLINK_ASSIGN_OR_RETURN(const shm::PinnedView now, segment_.pin());
  const auto look = [&](const shm::RecordView& record) {
    if (told_[record.offset() / shm::kRecordAlignment]) return;
    const shm::RecordView again = find_key(now, record.key(), now.generation);
    if (again && again.generation() <= begin_.generation) {
      problems_.add(name_of_key(record.key()) + ": is in the segment and not in the store");
    }
  };
  if (!visit_live_objects(begin_, look)) problems_.add("the segment's index is damaged");
  return Ok{};
}

}  // namespace iceblink::cli
