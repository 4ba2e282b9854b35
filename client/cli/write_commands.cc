// Commands that change the catalog, through the daemon.
#include <cerrno>
#include <cstdio>
#include <memory>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

/// Prints what a write has become.
Result<ExitCode> report(const Invocation& invocation, const std::string& what,
                        const Result<std::uint64_t>& generation) {
  if (!generation) return generation.error();
  if (invocation.is_json()) {
    print_json(boost::json::object{{"generation", *generation}});
  } else {
    print_line(what + " (generation " + std::to_string(*generation) + ")");
  }
  return ExitCode::kYes;
}

struct CreateNamespace {
  std::string levels;
  std::vector<std::string> properties;  // "key=value"

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_namespace(levels);
    if (!parsed) return usage_error(parsed.error());
    Properties values;
    for (const auto& property : properties) {
      const auto equals = property.find('=');
      if (equals == std::string::npos || equals == 0) {
        return usage_error({ErrorKind::kInvalidArgument,
                            "--property '" + property + "' is not of the form KEY=VALUE"});
      }
      values[property.substr(0, equals)] = property.substr(equals + 1);
    }
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    return report(invocation, "created namespace " + format(*parsed),
                  catalog.create_namespace(*parsed, values));
  }
};

struct DropNamespace {
  std::string levels;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_namespace(levels);
    if (!parsed) return usage_error(parsed.error());
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    return report(invocation, "dropped namespace " + format(*parsed),
                  catalog.drop_namespace(*parsed));
  }
};

struct Register {
  std::string ident;
  std::string location;
  bool overwrite = false;
  bool unverified = false;
  std::optional<std::string> expect;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_table(ident);
    if (!parsed) return usage_error(parsed.error());
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    RegisterOptions options;
    if (overwrite) options.if_exists = RegisterOptions::IfExists::kOverwrite;
    if (unverified) options.verification = RegisterOptions::Verification::kUnverified;
    return report(invocation, "registered " + format(*parsed),
                  expect ? catalog.move_table(*parsed, *expect, location, options.verification)
                         : catalog.register_table(*parsed, location, options));
  }
};

struct Drop {
  std::string ident;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_table(ident);
    if (!parsed) return usage_error(parsed.error());
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    return report(invocation, "dropped " + format(*parsed), catalog.drop_table(*parsed));
  }
};

struct Rename {
  std::string from;
  std::string to;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto source = parse_table(from);
    if (!source) return usage_error(source.error());
    const auto destination = parse_table(to);
    if (!destination) return usage_error(destination.error());
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    return report(invocation, "renamed " + format(*source) + " to " + format(*destination),
                  catalog.rename_table(*source, *destination));
  }
};

Result<std::string> read_all(const std::string& path) {
  const bool is_stdin = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      is_stdin ? stdin : std::fopen(path.c_str(), "rbe"),
      is_stdin ? [](std::FILE*) { return 0; }
               : [](std::FILE* opened) { return std::fclose(opened); });
  if (!file) return shm::system_error(path, errno);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, count);
  }
  if (std::ferror(file.get()) != 0) return shm::system_error(path, errno);
  return text;
}

struct Apply {
  std::string path;

  Result<ExitCode> run(const Invocation& invocation) const {
    ICEBLINK_ASSIGN_OR_RETURN(const std::string lines, read_all(path));
    ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog, invocation.open());
    return report(invocation, "applied " + (path == "-" ? "standard input" : path),
                  catalog.apply(Batch().append_json_lines(lines)));
  }
};

/// Adds a command whose arguments are kept in `Command`.
template <typename Command>
std::pair<CLI::App*, std::shared_ptr<Command>> add(CLI::App& app, Invocation& invocation,
                                                   const char* name, const char* what) {
  auto* const subcommand = app.add_subcommand(name, what);
  const auto command = std::make_shared<Command>();
  subcommand->callback([&invocation, command] {
    invocation.run = [&invocation, command] { return command->run(invocation); };
  });
  return {subcommand, command};
}

}  // namespace

void add_write_commands(CLI::App& app, Invocation& invocation) {
  const auto create = add<CreateNamespace>(app, invocation, "create-namespace",
                                           "create a namespace; its parent must exist");
  create.first->add_option("NAMESPACE", create.second->levels)->required();
  create.first->add_option("--property", create.second->properties, "KEY=VALUE; may be repeated")
      ->allow_extra_args(false);

  const auto drop_namespace =
      add<DropNamespace>(app, invocation, "drop-namespace", "drop a namespace that is empty");
  drop_namespace.first->add_option("NAMESPACE", drop_namespace.second->levels)->required();

  const auto enter = add<Register>(app, invocation, "register",
                                   "give a table a name, or its name another location");
  enter.first->add_option("ID", enter.second->ident)->required();
  enter.first->add_option("LOCATION", enter.second->location, "of the metadata file")->required();
  auto* const overwrite = enter.first->add_flag("--overwrite", enter.second->overwrite,
                                                "move the pointer of a table that exists");
  enter.first
      ->add_option("--expect", enter.second->expect,
                   "only if the table's location is this one (compare-and-swap)")
      ->needs(overwrite);
  enter.first->add_flag("--unverified", enter.second->unverified,
                        "do not read the metadata file first");

  const auto drop =
      add<Drop>(app, invocation, "drop", "forget a table; its files are left as they are");
  drop.first->add_option("ID", drop.second->ident)->required();

  const auto rename = add<Rename>(app, invocation, "rename", "rename a table");
  rename.first->add_option("FROM", rename.second->from)->required();
  rename.first->add_option("TO", rename.second->to)->required();

  const auto apply = add<Apply>(app, invocation, "apply",
                                "apply operations, a JSON object a line, all or nothing");
  apply.first->add_option("FILE", apply.second->path, "- for standard input")->required();
}

}  // namespace iceblink::cli
