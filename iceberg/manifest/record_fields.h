// Records of Avro files whose fields are known by their Iceberg ids: where they are, whether they
// are of a type that can be read, and their values.
//
// Thread safety: RecordFields is immutable; the rest belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/avro/avro_schema.h"
#include "iceberg/avro/container_reader.h"

namespace iceblink::iceberg {

enum class FieldType : std::uint8_t {
  kBoolean,
  kInteger,  ///< int or long
  kString,
  kBytes,  ///< bytes or fixed
  kRecord,
  kArray,
  kMap,  ///< an array of records with two fields, or a map
};

enum class Presence : std::uint8_t { kOptional, kRequired };

struct KnownField {
  std::int32_t id;
  std::string_view name;
  FieldType type;
  Presence presence = Presence::kOptional;
};

/// "a long", "an array".
[[nodiscard]] std::string_view with_article(avro::Kind kind) noexcept;

/// "field-id 100 (file_path)".
[[nodiscard]] std::string text_of(std::int32_t field_id, std::string_view name);

/// What is in a field that is not null: the type itself, or the one branch of a union beside null.
/// Null: there is nothing but null. kCorrupt: several; `what` is the field.
[[nodiscard]] Result<const avro::Schema*> value_type(const avro::Schema& type,
                                                     std::string_view what);

/// Fields are named by their index in the list of known ones.
class RecordFields {
 public:
  /// `record` and `known` outlive what is made. kCorrupt: no record, a known field of another
  /// type, one that is required and not there. Throws std::bad_alloc.
  [[nodiscard]] static Result<RecordFields> bind(const avro::Schema& record,
                                                 std::span<const KnownField> known);

  /// Null: it is not there, or null.
  [[nodiscard]] const avro::Value* find(const avro::Value& record,
                                        std::size_t field) const noexcept;
  /// Without null. Null: it is not there, or always null.
  [[nodiscard]] const avro::Schema* type(std::size_t field) const noexcept {
    return places_[field].type;
  }
  [[nodiscard]] bool has(std::size_t field) const noexcept {
    return places_[field].position != kAbsent;
  }
  [[nodiscard]] const KnownField& known(std::size_t field) const noexcept { return known_[field]; }
  /// By position in the record, as ContainerReader::project() takes it.
  [[nodiscard]] std::vector<bool> wanted() const;

 private:
  static constexpr std::size_t kAbsent = SIZE_MAX;
  struct Place {
    std::size_t position = kAbsent;
    const avro::Schema* type = nullptr;
  };

  RecordFields(std::span<const KnownField> known, std::size_t field_count)
      : known_(known), places_(known.size()), field_count_(field_count) {}
  [[nodiscard]] Status place(const avro::SchemaField& field, std::size_t position);

  std::span<const KnownField> known_;
  std::vector<Place> places_;
  std::size_t field_count_;
};

/// The first thing that was found wrong with an entry.
class EntryFault {
 public:
  /// `path`: of the field, from the entry.
  void set(std::string_view path, std::string_view what) {
    if (text_.empty()) text_.append(path).append(": ").append(what);
  }
  [[nodiscard]] bool is_set() const noexcept { return !text_.empty(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// The values of one record. What is wrong is told to the fault, and then the value is absent; so
/// is a required one that is missing.
class RecordValues {
 public:
  /// `path`: of the record, with a dot behind it; or empty.
  RecordValues(const RecordFields& fields, const avro::Value& record, std::string_view path,
               EntryFault& fault) noexcept
      : fields_(fields), record_(record), path_(path), fault_(fault) {}

  [[nodiscard]] const avro::Value* find(std::size_t field) const;
  [[nodiscard]] std::optional<bool> boolean(std::size_t field) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t field) const;
  [[nodiscard]] std::optional<std::int32_t> int32(std::size_t field) const;
  /// Not negative.
  [[nodiscard]] std::optional<std::int64_t> count(std::size_t field) const;
  /// Not above `last`; else, and where it is not there, 0.
  [[nodiscard]] std::uint8_t enumerator(std::size_t field, std::uint8_t last) const;
  /// UTF-8.
  [[nodiscard]] std::optional<std::string_view> text(std::size_t field) const;
  [[nodiscard]] std::optional<std::string_view> bytes(std::size_t field) const;
  [[nodiscard]] std::span<const avro::Value> elements(std::size_t field) const;

  void refuse(std::size_t field, std::string_view what) const;

 private:
  const RecordFields& fields_;
  const avro::Value& record_;
  std::string_view path_;
  EntryFault& fault_;
};

}  // namespace iceblink::iceberg
