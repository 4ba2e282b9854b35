#include "stress/key_space.h"

#include <charconv>

namespace iceblink::stress {
namespace {

constexpr std::string_view kScheme = "s3://stress/";
constexpr unsigned kOwnObjects = 10;
constexpr unsigned kFluxObjects = 4;
constexpr unsigned kFileObjects = 4;
constexpr unsigned kContested = 6;
constexpr unsigned kGroupTables = 5;

Value hash_of(std::string_view text) noexcept {
  Value hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Value value_of_location(std::string_view location, ObjectKind kind) noexcept {
  const Value of_kind = kind == ObjectKind::kView ? kViewBit : 0;
  if (location.starts_with(kScheme)) {
    const auto digits = location.substr(kScheme.size());
    Value number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number != 0 &&
        number < kViewBit) {
      return number | of_kind;
    }
  }
  return (hash_of(location) & (kViewBit - 1)) | kFileBit | of_kind;
}

std::string location_of(Value number) {
  return std::string(kScheme) + std::to_string(number);
}

KeySpace::KeySpace(unsigned writers) : writers_(writers) {
  shared_ = add_namespace("shared", kNoOwner);
  grouped_ = add_namespace("groups", kNoOwner);
  estates_.resize(writers);
  for (unsigned w = 0; w < writers; ++w) {
    const std::string number = std::to_string(w);
    estates_[w].own = add_namespace("own" + number, w);
    estates_[w].flux = add_namespace("flux" + number, w);
    estates_[w].files = add_namespace("files" + number, w);
  }
  // Keys are known once all namespaces are.
  const auto keys_of = [this](const std::vector<std::size_t>& indexes) {
    std::vector<Key> keys;
    for (const auto index : indexes) keys.push_back(static_cast<Key>(first_object() + index));
    return keys;
  };
  contested_ = keys_of(add_objects(shared_, "c", kContested));
  for (unsigned w = 0; w < writers; ++w) {
    Estate& estate = estates_[w];
    estate.own_objects = keys_of(add_objects(estate.own, "t", kOwnObjects));
    estate.flux_objects = keys_of(add_objects(estate.flux, "f", kFluxObjects));
    estate.file_objects = keys_of(add_objects(estate.files, "r", kFileObjects));
    groups_.push_back(keys_of(add_objects(grouped_, "g", kGroupTables)));
  }
  for (unsigned w = 0; w < writers; ++w) {
    estates_[w].group = static_cast<Key>(first_group() + w);
    for (const Key member : groups_[w]) {
      objects_[member - first_object()].group = estates_[w].group;
    }
  }
  for (unsigned i = 0; i < namespaces_.size(); ++i) {
    by_name_[encode(Namespace{namespaces_[i].name})] = namespace_key(i);
  }
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    by_name_[encode(objects_[i].ident)] = static_cast<Key>(first_object() + i);
  }
}

unsigned KeySpace::add_namespace(std::string name, unsigned owner) {
  namespaces_.push_back({std::move(name), owner});
  return static_cast<unsigned>(namespaces_.size() - 1);
}

std::vector<std::size_t> KeySpace::add_objects(unsigned index, const char* prefix, unsigned count) {
  std::vector<std::size_t> added;
  NamespaceKey& in = namespaces_[index];
  for (unsigned i = 0; i < count; ++i) {
    const unsigned bit = in.object_count++;
    objects_.push_back({{{in.name}, prefix + std::to_string(bit)}, index, bit});
    added.push_back(objects_.size() - 1);
  }
  return added;
}

unsigned KeySpace::owner(Key key) const {
  if (is_namespace(key)) return namespaces_[key].owner;
  if (!is_object(key)) return kNoOwner;
  const ObjectKey& of = object(key);
  if (of.group != kNoKey) return of.group - first_group();
  return namespaces_[of.namespace_index].owner;
}

std::optional<Key> KeySpace::find_namespace(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Key> KeySpace::find_object(const TableIdent& ident) const {
  const auto found = by_name_.find(encode(ident));
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::string KeySpace::name(Key key) const {
  const auto count = namespaces_.size();
  if (is_namespace(key)) return "namespace " + namespaces_[key].name;
  if (is_object(key)) return format(object(key).ident);
  if (is_group(key)) return "group " + std::to_string(key - first_group());
  if (key == namespace_list()) return "the namespaces";
  return (key < 2 * count ? "the tables of " : "the views of ") + namespaces_[key % count].name;
}

}  // namespace iceblink::stress
