// Every name that the stress program uses, as a small number: what histories and answers are
// made of.
//
// A key is a thing that a reader can ask for: whether a namespace exists, what a name stands for,
// what a listing holds, which number a group of tables shows. Its value is one word:
//
//   a table or view   0: absent; else the number in its location ("s3://stress/NUMBER"), or, of a
//                     metadata file, a hash of the location with kFileBit; with kViewBit of a view
//   a namespace       0 or 1
//   a listing         0: the namespace does not exist; else 1 and, from bit 1, a bit for each name
//   a group           what all its tables show; kMixed where they differ
//
// Thread safety: constant after construction.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace iceblink::stress {

using Key = std::uint16_t;
using Value = std::uint64_t;

inline constexpr Value kAbsent = 0;
inline constexpr Value kFileBit = Value{1} << 63;
inline constexpr Value kViewBit = Value{1} << 62;
inline constexpr Value kMixed = ~Value{0};
inline constexpr Key kNoKey = 0xFFFF;
inline constexpr unsigned kWritersMax = 8;
inline constexpr unsigned kNoOwner = 0xFF;  // of a key that several writers change

/// What a name stands for, as a value. 0 never comes out.
[[nodiscard]] Value value_of_location(std::string_view location, ObjectKind kind) noexcept;
/// The location whose value is `number` (without kFileBit and kViewBit).
[[nodiscard]] std::string location_of(Value number);

/// Numbers of operations carry their writer.
[[nodiscard]] constexpr std::uint64_t first_number_of(unsigned writer) noexcept {
  return std::uint64_t{writer + 1} << 40;
}
[[nodiscard]] constexpr unsigned writer_of_number(std::uint64_t number) noexcept {
  return static_cast<unsigned>((number & ~(kFileBit | kViewBit)) >> 40) - 1;
}

/// A name that may stand for a table or view.
struct ObjectKey {
  TableIdent ident;
  unsigned namespace_index = 0;
  unsigned bit = 0;  // in the namespace's listings
  Key group = kNoKey;
};

class KeySpace {
 public:
  explicit KeySpace(unsigned writers);

  [[nodiscard]] unsigned writers() const noexcept { return writers_; }
  [[nodiscard]] std::size_t key_count() const noexcept { return first_group() + groups_.size(); }

  [[nodiscard]] std::size_t namespace_count() const noexcept { return namespaces_.size(); }
  [[nodiscard]] const std::string& namespace_name(unsigned index) const {
    return namespaces_[index].name;
  }
  [[nodiscard]] Key namespace_key(unsigned index) const { return static_cast<Key>(index); }
  [[nodiscard]] Key table_list(unsigned index) const {
    return static_cast<Key>(namespaces_.size() + index);
  }
  [[nodiscard]] Key view_list(unsigned index) const {
    return static_cast<Key>(2 * namespaces_.size() + index);
  }
  [[nodiscard]] Key namespace_list() const { return static_cast<Key>(3 * namespaces_.size()); }

  [[nodiscard]] bool is_namespace(Key key) const { return key < namespaces_.size(); }
  [[nodiscard]] bool is_object(Key key) const {
    return key >= first_object() && key < first_group();
  }
  [[nodiscard]] bool is_group(Key key) const { return key >= first_group(); }
  [[nodiscard]] const ObjectKey& object(Key key) const { return objects_[key - first_object()]; }
  [[nodiscard]] Key first_object() const { return static_cast<Key>(3 * namespaces_.size() + 1); }
  [[nodiscard]] Key first_group() const {
    return static_cast<Key>(first_object() + objects_.size());
  }
  [[nodiscard]] const std::vector<Key>& group(Key key) const {
    return groups_[key - first_group()];
  }

  /// Who alone changes it; kNoOwner: all do.
  [[nodiscard]] unsigned owner(Key key) const;
  [[nodiscard]] std::optional<Key> find_namespace(std::string_view name) const;
  [[nodiscard]] std::optional<Key> find_object(const TableIdent& ident) const;

  // ---- What a writer works with.

  struct Estate {
    unsigned own = 0, flux = 0, files = 0;  // namespaces
    std::vector<Key> own_objects;           // tables and views come and go, and are renamed
    std::vector<Key> flux_objects;          // in a namespace that comes and goes
    std::vector<Key> file_objects;          // tables with metadata files
    Key group = kNoKey;                     // changed as one
  };
  [[nodiscard]] const Estate& estate(unsigned writer) const { return estates_[writer]; }
  [[nodiscard]] const std::vector<Key>& contested() const noexcept { return contested_; }
  [[nodiscard]] unsigned shared_namespace() const noexcept { return shared_; }
  [[nodiscard]] unsigned group_namespace() const noexcept { return grouped_; }

  /// For people: "own3.t4", "tables of flux1", "group 2".
  [[nodiscard]] std::string name(Key key) const;

 private:
  struct NamespaceKey {
    std::string name;
    unsigned owner;
    unsigned object_count = 0;
  };
  unsigned add_namespace(std::string name, unsigned owner);
  std::vector<std::size_t> add_objects(unsigned index, const char* prefix, unsigned count);

  unsigned writers_;
  std::vector<NamespaceKey> namespaces_;
  std::vector<ObjectKey> objects_;
  std::vector<std::vector<Key>> groups_;
  std::vector<Estate> estates_;
  std::vector<Key> contested_;
  unsigned shared_ = 0;
  unsigned grouped_ = 0;
  std::unordered_map<std::string, Key> by_name_;  // encoded identifiers
};

}  // namespace iceblink::stress
