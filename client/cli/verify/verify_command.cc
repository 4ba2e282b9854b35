// The command, and what it reports.
#include <memory>
#include <optional>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/verify/file_check.h"
#include "client/cli/verify/store_check.h"
#include "shm/verifier.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

struct Verify {
  bool leaves_out_files = false;
  bool is_of_segment_only = false;

  Result<ExitCode> run(const Invocation& invocation) const;
};

/// All that was found.
struct Report {
  shm::VerifyReport segment;
  Problems problems;            // of store and files
  std::optional<Status> store;  // absent: left out
  std::uint64_t store_row_count = 0;
  std::optional<FileCheckCounts> files;  // absent: left out

  [[nodiscard]] bool is_sound() const { return segment.problems.empty() && problems.count() == 0; }
  [[nodiscard]] ExitCode exit_code() const {
    if (!is_sound()) return ExitCode::kInvalid;
    if (!store || store->ok()) return ExitCode::kYes;
    switch (store->error().kind()) {
      case ErrorKind::kNoDaemon:
      case ErrorKind::kTimedOut:
        return ExitCode::kNoDaemon;
      case ErrorKind::kNotAllowed:
        return ExitCode::kNotAllowed;
      default:  // nothing is known to differ
        return ExitCode::kInternal;
    }
  }
};

json::object report_json(const Report& report) {
  json::array problems = to_json(report.segment.problems);
  for (const auto& line : report.problems.lines()) problems.emplace_back(line);
  json::object document{{"sound", report.is_sound()},
                        {"complete", report.segment.complete},
                        {"generation", report.segment.generation},
                        {"records", report.segment.record_count},
                        {"keys", report.segment.key_count},
                        {"problem-count", report.segment.problems.size() + report.problems.count()},
                        {"problems", std::move(problems)}};
  if (report.store) {
    json::object store{{"compared", report.store->ok()}, {"objects", report.store_row_count}};
    if (!*report.store) store["reason"] = report.store->error().message();
    document["store"] = std::move(store);
  }
  if (report.files) {
    document["files"] = json::object{{"read", report.files->read},
                                     {"bytes", report.files->bytes},
                                     {"unverified", report.files->unverified},
                                     {"other-schemes", report.files->other_schemes},
                                     {"moved-on", report.files->moved_on}};
  }
  return document;
}

void print_text(const Report& report) {
  const shm::VerifyReport& segment = report.segment;
  for (const auto& problem : segment.problems) print_line(problem);
  for (const auto& problem : report.problems.lines()) print_line(problem);
  if (report.problems.count() > Problems::kLinesMax) {
    print_line("… and " + std::to_string(report.problems.count() - Problems::kLinesMax) + " more");
  }
  print_line(std::string(segment.problems.empty() ? "segment  sound: " : "segment  damaged: ") +
             std::to_string(segment.record_count) + " records of " +
             std::to_string(segment.key_count) + " names, generation " +
             std::to_string(segment.generation) +
             (segment.complete ? "" : "; commits went on, so some checks were left out"));
  if (report.store) {
    print_line("store    " + std::to_string(report.store_row_count) + " objects compared" +
               (*report.store ? "" : "; not all: " + report.store->error().message()));
  }
  if (report.files) {
    const FileCheckCounts& files = *report.files;
    print_line("files    " + std::to_string(files.read) + " read, " +
               std::to_string(files.unverified) + " registered unverified, " +
               std::to_string(files.other_schemes) + " of other schemes");
  }
  print_line(report.is_sound() ? "no difference was found"
                               : "differences: " + std::to_string(segment.problems.size() +
                                                                  report.problems.count()));
}

Status compare_more(const Verify& wanted, const Invocation& invocation, Report& report) {
  ICEBLINK_ASSIGN_OR_RETURN(auto segment, shm::Segment::attach(invocation.runtime_dir, {}));
  ICEBLINK_ASSIGN_OR_RETURN(const shm::PinnedView begin, segment->pin());
  // relaxed, all: for showing
  const auto& header = begin.mapping->arena.header();
  const std::uint64_t pointers = header.table_count.load(std::memory_order_relaxed) +
                                 header.view_count.load(std::memory_order_relaxed);
  const std::uint64_t objects = pointers + header.namespace_count.load(std::memory_order_relaxed);
  {
    client::DaemonClient daemon(invocation.runtime_dir + "/" + shm::kSocketName);
    StoreCheck store(*segment, begin, report.problems);
    Progress progress("objects", objects);
    report.store = store.run(daemon, progress);
    report.store_row_count = store.row_count();
  }
  if (wanted.leaves_out_files) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto files, client::FileReader::make(invocation.options.files));
  ICEBLINK_ASSIGN_OR_RETURN(const auto places,
                            iceberg::LocationMap::of(invocation.options.files.location_prefixes));
  FileCheck check(*segment, begin, *files, places,
                  invocation.options.metadata_limits.document_bytes_max, report.problems);
  Progress progress("files", pointers);
  check.run(progress);
  report.files = check.counts();
  return Ok{};
}

Result<ExitCode> Verify::run(const Invocation& invocation) const {
  // Whether there is a segment at all is another question than whether it is sound.
  const auto catalog = invocation.open();
  if (!catalog && catalog.error().kind() != ErrorKind::kCorrupt &&
      catalog.error().kind() != ErrorKind::kIncompatible) {
    return catalog.error();
  }
  Report report;
  report.segment = shm::verify_segment(invocation.runtime_dir);
  if (catalog && !is_of_segment_only) {
    ICEBLINK_RETURN_IF_ERROR(compare_more(*this, invocation, report));
  }
  if (invocation.is_json()) {
    print_json(report_json(report));
  } else {
    print_text(report);
  }
  return report.exit_code();
}

}  // namespace

void add_verify_command(CLI::App& app, Invocation& invocation) {
  const auto verify = std::make_shared<Verify>();
  auto* const command = app.add_subcommand("verify",
                                           "compare segment, store and metadata files (exit code "
                                           "5: a difference; 3, 7, 70: the daemon does not "
                                           "answer, does not allow it, or fails, so that the "
                                           "store was not compared)");
  command->add_flag("--no-files", verify->leaves_out_files, "read no metadata files");
  command->add_flag("--segment-only", verify->is_of_segment_only,
                    "check the bytes of the segment and nothing else");
  command->callback([&invocation, verify] {
    invocation.run = [&invocation, verify] { return verify->run(invocation); };
  });
}

}  // namespace iceblink::cli
