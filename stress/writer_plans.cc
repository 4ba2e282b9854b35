// What a writer may do next.
#include <algorithm>

#include "client/wire.h"
#include "stress/requests.h"
#include "stress/writer.h"

namespace iceblink::stress {
namespace {

constexpr std::string_view kOverwrite = R"(,"overwrite":true)";

std::string expecting(std::string_view location) {
  return R"(,"expect":")" + std::string(location) + '"';
}

}  // namespace

std::optional<Writer::Plan> Writer::plan() {
  const std::uint64_t chance = random(100);
  if (chance < 35) return own();
  if (chance < 52) return group();
  if (chance < 58) return mixed();
  if (chance < 60) return wrong_batch();
  if (chance < 72) return flux();
  if (chance < 86) return contested();
  if (chance < 93) return files();
  if (chance < 97) return transaction();
  return properties();
}

// ---- Tables and views of its own, one by one.

std::optional<Writer::Plan> Writer::own() {
  const Key key = any_of(estate_.own_objects);
  if (!exists(key)) return own_absent(key);
  return (values_[key] & kViewBit) != 0 ? own_view(key) : own_table(key);
}

std::optional<Writer::Plan> Writer::own_absent(Key key) {
  switch (random(4)) {
    case 0:
      return batch(Counted::kViewPut,
                   requests::register_line(ident(key), location(), R"(,"kind":"view")"),
                   {{key, number_ | kViewBit}});
    case 1: {
      Plan wrong =
          rest(Counted::kWrongDrop, "DELETE", client::table_path(ident(key)), "", {{key, kAbsent}});
      wrong.expected = Expected::kRefused;
      return wrong;
    }
    default:
      return rest(Counted::kRegister, "POST",
                  client::namespace_path(ident(key).levels) + "/register",
                  requests::registration(ident(key).name, location()), {{key, number_}});
  }
}

std::optional<Writer::Plan> Writer::own_table(Key key) {
  switch (random(6)) {
    case 0:
      return rest(Counted::kDrop, "DELETE", client::table_path(ident(key)), "", {{key, kAbsent}});
    case 1:
      return own_renamed(key);
    case 2: {
      const std::string more = expecting(location_of(first_number_of(writer_)));
      Plan wrong = batch(Counted::kWrongSwap, requests::register_line(ident(key), location(), more),
                         {{key, number_}});
      wrong.expected = Expected::kRefused;
      return wrong;
    }
    case 3:
    case 4:
      return batch(
          Counted::kSwap,
          requests::register_line(ident(key), location(), expecting(location_of(values_[key]))),
          {{key, number_}});
    default:
      return batch(Counted::kOverwrite, requests::register_line(ident(key), location(), kOverwrite),
                   {{key, number_}});
  }
}

std::optional<Writer::Plan> Writer::own_view(Key key) {
  switch (random(3)) {
    case 0:
      return rest(Counted::kViewDropped, "DELETE", client::view_path(ident(key)), "",
                  {{key, kAbsent}});
    case 1:
      return own_renamed(key);
    default:
      return batch(
          Counted::kViewPut,
          requests::register_line(ident(key), location(), R"(,"kind":"view","overwrite":true)"),
          {{key, number_ | kViewBit}});
  }
}

std::optional<Writer::Plan> Writer::own_renamed(Key from) {
  const auto to = std::find_if(estate_.own_objects.begin(), estate_.own_objects.end(),
                               [this](Key key) { return !exists(key); });
  if (to == estate_.own_objects.end()) return std::nullopt;
  const bool is_view = (values_[from] & kViewBit) != 0;
  return rest(Counted::kRename, "POST", is_view ? "/v1/views/rename" : "/v1/tables/rename",
              requests::renaming(ident(from), ident(*to)), {{from, kAbsent}, {*to, values_[from]}});
}

Writer::Plan Writer::properties() {
  const Namespace levels{keys_.namespace_name(estate_.own)};
  return rest(Counted::kProperties, "POST", client::namespace_path(levels) + "/properties",
              R"({"removals":[],"updates":{"stress":")" + std::to_string(number_) + "\"}}",
              {{keys_.namespace_key(estate_.own), 1}});
}

// ---- Several as one.

std::optional<Writer::Plan> Writer::group() {
  const auto& members = keys_.group(estate_.group);
  const bool drops = exists(members.front()) && random(10) == 0;
  std::string lines;
  std::vector<Effect> effects;
  for (const Key key : members) {
    lines += drops ? requests::drop_line(ident(key))
                   : requests::register_line(ident(key), location(), kOverwrite);
    effects.push_back({key, drops ? kAbsent : number_});
  }
  Plan made = batch(Counted::kGroupBatch, std::move(lines), std::move(effects));
  // Before its first writer has made the namespace.
  if (!exists(members.front())) made.expected = Expected::kEither;
  return made;
}

std::optional<Writer::Plan> Writer::mixed() {
  auto made = group();
  made->kind = Counted::kMixedBatch;
  std::vector<Key> others = estate_.own_objects;
  std::shuffle(others.begin(), others.end(), random_);
  for (std::size_t i = 0; i < 3; ++i) {
    const Key key = others[i];
    if ((values_[key] & kViewBit) != 0) continue;
    const bool drops = exists(key) && random(2) == 0;
    made->request.body += drops ? requests::drop_line(ident(key))
                                : requests::register_line(ident(key), location(), kOverwrite);
    made->effects.push_back({key, drops ? kAbsent : number_});
  }
  return made;
}

// All good but for its last line: nothing of it may ever be seen.
std::optional<Writer::Plan> Writer::wrong_batch() {
  auto made = mixed();
  made->kind = Counted::kWrongBatch;
  made->expected = Expected::kRefused;
  made->request.body += requests::drop_line({{keys_.namespace_name(estate_.own)}, "nobody"});
  return made;
}

// ---- A namespace that comes and goes.

std::optional<Writer::Plan> Writer::flux() {
  const Key self = keys_.namespace_key(estate_.flux);
  if (!exists(self)) return flux_made();
  const bool is_empty = std::none_of(estate_.flux_objects.begin(), estate_.flux_objects.end(),
                                     [this](Key key) { return exists(key); });
  switch (random(4)) {
    case 0:
      return flux_dropped();
    case 1: {
      const Namespace levels{keys_.namespace_name(estate_.flux)};
      Plan alone = rest(is_empty ? Counted::kNamespaceDropped : Counted::kWrongDrop, "DELETE",
                        client::namespace_path(levels), "", {{self, kAbsent}});
      if (!is_empty) alone.expected = Expected::kRefused;
      return alone;
    }
    default: {
      const Key key = any_of(estate_.flux_objects);
      return batch(Counted::kOverwrite, requests::register_line(ident(key), location(), kOverwrite),
                   {{key, number_}});
    }
  }
}

Writer::Plan Writer::flux_made() {
  const Key self = keys_.namespace_key(estate_.flux);
  const std::string& name = keys_.namespace_name(estate_.flux);
  if (random(2) == 0) {
    return rest(Counted::kNamespaceMade, "POST", "/v1/namespaces",
                R"({"namespace":[")" + name + "\"]}", {{self, 1}});
  }
  std::string lines = requests::create_namespace_line(name);
  std::vector<Effect> effects{{self, 1}};
  for (const Key key : estate_.flux_objects) {
    lines += requests::register_line(ident(key), location(), "");
    effects.push_back({key, number_});
  }
  return batch(Counted::kNamespaceMade, std::move(lines), std::move(effects));
}

Writer::Plan Writer::flux_dropped() {
  std::string lines;
  std::vector<Effect> effects;
  for (const Key key : estate_.flux_objects) {
    if (!exists(key)) continue;
    lines += requests::drop_line(ident(key));
    effects.push_back({key, kAbsent});
  }
  lines += requests::drop_namespace_line(keys_.namespace_name(estate_.flux));
  effects.push_back({keys_.namespace_key(estate_.flux), kAbsent});
  return batch(Counted::kNamespaceDropped, std::move(lines), std::move(effects));
}

// ---- Names that all writers want.

std::optional<Writer::Plan> Writer::contested() {
  const Key key = any_of(keys_.contested());
  std::string more(kOverwrite);
  const auto now = catalog_.resolve_location(ident(key));
  if (now && random(2) == 0) more = expecting(*now);
  Plan made = batch(Counted::kContested, requests::register_line(ident(key), location(), more),
                    {{key, number_}});
  made.expected = Expected::kEither;
  return made;
}

// ---- Tables with metadata files, which the daemon writes.

std::optional<Writer::Plan> Writer::files() {
  const Key key = any_of(estate_.file_objects);
  if (!exists(key)) {
    return rest(Counted::kFileCreated, "POST",
                client::namespace_path(ident(key).levels) + "/tables",
                requests::creation(ident(key).name), {{key, kFileBit}});
  }
  if (random(12) == 0) {
    return rest(Counted::kDrop, "DELETE", client::table_path(ident(key)) + "?purgeRequested=true",
                "", {{key, kAbsent}});
  }
  return rest(Counted::kFileCommit, "POST", client::table_path(ident(key)),
              requests::commit(std::to_string(number_)), {{key, kFileBit}});
}

std::optional<Writer::Plan> Writer::transaction() {
  std::vector<TableIdent> tables;
  std::vector<Effect> effects;
  for (const Key key : estate_.file_objects) {
    if (!exists(key)) continue;
    tables.push_back(ident(key));
    effects.push_back({key, kFileBit});
  }
  if (tables.size() < 2) return std::nullopt;
  return rest(Counted::kTransaction, "POST", "/v1/transactions/commit",
              requests::transaction(tables, std::to_string(number_)), std::move(effects));
}

}  // namespace iceblink::stress
