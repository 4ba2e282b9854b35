// How a witness asks for one key, in each of the ways there are.
#include <algorithm>
#include <array>

#include "stress/witness.h"

namespace iceblink::stress {

Key Witness::any_key() {
  // Groups and listings are few and say most.
  switch (random(6)) {
    case 0:
      return static_cast<Key>(keys_.first_group() + random(keys_.writers()));
    case 1:
      return static_cast<Key>(random(keys_.first_object()));
    default:
      return static_cast<Key>(keys_.first_object() +
                              random(keys_.first_group() - keys_.first_object()));
  }
}

// A name that never stands for a view: without a snapshot, views are looked up otherwise.
Key Witness::any_table() {
  const auto& estate = keys_.estate(static_cast<unsigned>(random(keys_.writers())));
  const auto any_of = [this](const std::vector<Key>& keys) { return keys[random(keys.size())]; };
  switch (random(4)) {
    case 0:
      return any_of(keys_.contested());
    case 1:
      return any_of(estate.flux_objects);
    case 2:
      return any_of(estate.file_objects);
    default:
      return any_of(keys_.group(estate.group));
  }
}

Value Witness::table_value(const Result<std::string>& location, bool& is_good) const {
  if (location) return value_of_location(*location, ObjectKind::kTable);
  if (location.error().kind() != ErrorKind::kNotFound) {
    wrong("resolve_location", location.error());
    is_good = false;
  }
  return kAbsent;
}

void Witness::sight(const Snapshot& snapshot, Key key, Answer& answer) {
  const auto value = value_of(snapshot, key);
  if (!value) return wrong(keys_.name(key), value.error());
  answer.add(key, *value);
}

Result<Value> Witness::value_of(const Snapshot& snapshot, Key key) {
  if (keys_.is_group(key)) return group_value(snapshot, key);
  if (keys_.is_object(key)) return object_value(snapshot, key);
  if (keys_.is_namespace(key)) {
    ICEBLINK_ASSIGN_OR_RETURN(const bool exists,
                              snapshot.namespace_exists({keys_.namespace_name(key)}));
    return Value{exists ? 1U : 0U};
  }
  return listing_value(snapshot, key);
}

Result<Value> Witness::object_value(const Snapshot& snapshot, Key key) {
  const TableIdent& ident = keys_.object(key).ident;
  std::optional<TableView> found;
  if (random(4) == 0) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto prepared, snapshot.prepare(ident));
    ICEBLINK_ASSIGN_OR_RETURN(found, snapshot.find(prepared));
  } else {
    ICEBLINK_ASSIGN_OR_RETURN(found, snapshot.find(ident));
  }
  ICEBLINK_ASSIGN_OR_RETURN(const bool is_table, snapshot.table_exists(ident));
  ICEBLINK_ASSIGN_OR_RETURN(const bool is_view, snapshot.view_exists(ident));
  const bool was_table = found && found->kind() == ObjectKind::kTable;
  const bool was_view = found && found->kind() == ObjectKind::kView;
  if (is_table != was_table || is_view != was_view) {
    return {ErrorKind::kInternal, "one snapshot says that it exists, and that it does not"};
  }
  if (!found) return kAbsent;
  if (found->generation() > snapshot.generation()) {
    return {ErrorKind::kInternal, "a version of generation " + std::to_string(found->generation()) +
                                      " in a snapshot of " + std::to_string(snapshot.generation())};
  }
  return value_of_location(found->metadata_location(), found->kind());
}

Result<Value> Witness::group_value(const Snapshot& snapshot, Key key) const {
  const auto& members = keys_.group(key);
  std::vector<TableIdent> idents;
  for (const Key member : members) idents.push_back(keys_.object(member).ident);
  std::vector<std::optional<TableView>> found(idents.size());
  ICEBLINK_RETURN_IF_ERROR(snapshot.find_many(idents, found));
  std::vector<Value> values;
  for (const auto& view : found) {
    values.push_back(view ? value_of_location(view->metadata_location(), view->kind()) : kAbsent);
  }
  const bool is_one = std::all_of(values.begin(), values.end(),
                                  [&](Value value) { return value == values.front(); });
  return is_one ? values.front() : kMixed;
}

template <typename Source>
Result<Value> Witness::listing_value(const Source& source, Key key) const {
  const auto count = keys_.namespace_count();
  const bool is_root = key == keys_.namespace_list();
  const Namespace levels =
      is_root ? Namespace{} : Namespace{keys_.namespace_name(static_cast<unsigned>(key % count))};
  const auto names = is_root           ? source.list_namespaces()
                     : key < 2 * count ? source.list_tables(levels)
                                       : source.list_views(levels);
  if (!names) {
    if (names.error().kind() == ErrorKind::kNotFound && !is_root) return kAbsent;
    return names.error();
  }
  // Strictly ascending: nothing is there twice.
  if (std::adjacent_find(names->begin(), names->end(), std::greater_equal<>()) != names->end()) {
    return {ErrorKind::kInternal, "a listing is not sorted, or has a name twice"};
  }
  Value mask = 1;
  for (const std::string& name : *names) {
    const auto of = is_root ? keys_.find_namespace(name) : keys_.find_object({levels, name});
    if (!of) return {ErrorKind::kInternal, "a listing has the name " + name};
    mask |= Value{2} << (is_root ? *of : keys_.object(*of).bit);
  }
  return mask;
}

void Witness::see_listing() {
  Answer answer = begin(Answer::Kind::kWithin);
  const Key key =
      static_cast<Key>(keys_.namespace_count() + random(2 * keys_.namespace_count() + 1));
  const auto value = listing_value(catalog_, key);
  if (!value) return wrong(keys_.name(key), value.error());
  answer.add(key, *value);
  const auto index = static_cast<unsigned>(random(keys_.namespace_count()));
  stage_.count(Counted::kLists);
  push_within(answer);

  Answer existence = begin(Answer::Kind::kWithin);
  const auto exists = catalog_.namespace_exists({keys_.namespace_name(index)});
  if (!exists) return wrong("namespace_exists", exists.error());
  existence.add(keys_.namespace_key(index), *exists ? 1 : 0);
  push_within(existence);
}

}  // namespace iceblink::stress
