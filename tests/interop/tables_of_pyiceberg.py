"""Tables that PyIceberg makes and changes, each commit of which writes a metadata file."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.table.statistics import BlobMetadata, StatisticsFile
from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform,
                                  MonthTransform, TruncateTransform, VoidTransform, YearTransform)
from pyiceberg.typedef import IcebergBaseModel
from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType,
                             FloatType, IntegerType, ListType, LongType, MapType, NestedField,
                             StringType, StructType, TimestampNanoType, TimestampType,
                             TimestamptzNanoType, TimestamptzType, TimeType, UnknownType, UUIDType)

PRIMITIVES = [BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(),
              DecimalType(38, 38), DecimalType(1, 0), DateType(), TimeType(), TimestampType(),
              TimestamptzType(), StringType(), UUIDType(), FixedType(16), BinaryType()]


def schema():
    columns = [NestedField(1, "id", LongType(), required=True, doc="the id"),
               NestedField(2, "name", StringType())]
    columns += [NestedField(10 + at, f"p{at}", type) for at, type in enumerate(PRIMITIVES)]
    columns += [
        NestedField(40, "struct", StructType(
            NestedField(41, "x", LongType(), required=True),
            NestedField(42, "ü \"quoted\"", StringType(), doc="inside"))),
        NestedField(50, "list", ListType(51, ListType(52, IntegerType(), element_required=False),
                                         element_required=True)),
        NestedField(60, "map", MapType(61, StringType(), 62, StructType(
            NestedField(63, "y", DoubleType())), value_required=False))]
    return Schema(*columns, identifier_field_ids=[1])


def spec():
    return PartitionSpec(
        PartitionField(1, 1000, BucketTransform(16), "bucketed"),
        PartitionField(2, 1001, TruncateTransform(4), "truncated"),
        PartitionField(2, 1002, IdentityTransform(), "name"),
        PartitionField(17, 1003, YearTransform(), "year"),
        PartitionField(19, 1004, MonthTransform(), "month"),
        PartitionField(20, 1005, DayTransform(), "day"),
        PartitionField(20, 1006, HourTransform(), "hour"),
        PartitionField(11, 1007, VoidTransform(), "void"))


def order():
    return SortOrder(
        SortField(1, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_FIRST),
        SortField(2, BucketTransform(2), SortDirection.ASC, NullOrder.NULLS_LAST))


def change_schema(table):
    with table.update_schema() as update:
        update.add_column("added", DecimalType(9, 2), doc="new")
        update.add_column(("struct", "deep"), MapType(1, FixedType(3), 2, IntegerType()))
    with table.update_schema() as update:
        update.rename_column("name", "title")
        update.update_column("p1", field_type=LongType(), doc="wider")
        update.update_column("p3", field_type=DoubleType())
    with table.update_schema() as update:
        update.delete_column("p14")
        update.move_first("title")
        update.move_after("id", "p2")


def change_spec_and_order(table):
    with table.update_spec() as update:
        update.add_field("added", TruncateTransform(7), "added_trunc")
        update.rename_field("bucketed", "in_buckets")
    with table.update_spec() as update:
        update.remove_field("hour")
    with table.update_sort_order() as update:
        update.asc("title", TruncateTransform(3), NullOrder.NULLS_FIRST)
        update.desc("id", IdentityTransform(), NullOrder.NULLS_LAST)


def change_properties(table):
    with table.transaction() as transaction:
        transaction.set_properties({"ü": "\U0001f9ca \"\\\n", "number": 1, "empty": ""})
    with table.transaction() as transaction:
        transaction.remove_properties("number")


def change_snapshots(table):
    """The table has the columns a and b."""
    def rows(*ids):
        return pyarrow.table({"a": pyarrow.array(ids, pyarrow.int64()),
                              "b": pyarrow.array([str(id) for id in ids])})

    table.append(rows(1, 2, 3), snapshot_properties={"made.by": "ü \"test\""})
    table.append(rows(4))
    first, second = table.metadata.snapshots
    table.manage_snapshots().create_tag(
        first.snapshot_id, "v1.0 ü", max_ref_age_ms=2**63 - 1).commit()
    table.manage_snapshots().create_branch(
        second.snapshot_id, "audit", max_ref_age_ms=1, max_snapshot_age_ms=2**63 - 1,
        min_snapshots_to_keep=2**31 - 1).commit()
    table.overwrite(rows(5, 6), overwrite_filter="a >= 3")
    table.delete("a = 1")
    table.append(rows(7), branch="audit")
    with table.update_statistics() as update:
        update.set_statistics(StatisticsFile(
            snapshot_id=first.snapshot_id, statistics_path="file:///s.puffin",
            file_size_in_bytes=2**63 - 1, file_footer_size_in_bytes=42,
            blob_metadata=[BlobMetadata(
                type="apache-datasketches-theta-v1", snapshot_id=first.snapshot_id,
                sequence_number=1, fields=[1, 2], properties={"ndv": "3"})]))
    table.manage_snapshots().remove_tag("v1.0 ü").commit()
    table.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    with table.update_schema() as update:
        update.add_column("c", BooleanType())
    table.append(rows(8))


def make_tables(directory):
    """The paths of all metadata files that were written, in a new catalog in `directory`."""
    catalog = SqlCatalog("test", uri=f"sqlite:///{directory}/catalog.db",
                         warehouse=f"file://{directory}/warehouse")
    catalog.create_namespace("n")
    for version in ("1", "2"):
        properties = {"format-version": version}
        table = catalog.create_table(f"n.changed_{version}", schema(), partition_spec=spec(),
                                     sort_order=order(), properties=dict(properties))
        change_properties(table)
        change_schema(table)
        change_spec_and_order(table)
        small = Schema(NestedField(1, "a", LongType()), NestedField(2, "b", StringType()))
        table = catalog.create_table(f"n.filled_{version}", small, properties=dict(properties))
        change_snapshots(table)
    table = catalog.create_table("n.upgraded", small, properties={"format-version": "1"})
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    table = catalog.create_table("n.short_log", small, properties={
        "format-version": "2", "write.metadata.previous-versions-max": "1"})
    change_snapshots(table)
    return sorted(Path(directory).glob("warehouse/n/*/metadata/*.metadata.json"))


def new_v3_table():
    """PyIceberg has a model of format 3, and does not write it to files yet."""
    columns = [NestedField(1, "id", LongType(), required=True),
               NestedField(2, "ns", TimestampNanoType()),
               NestedField(3, "tz_ns", TimestamptzNanoType()), NestedField(4, "u", UnknownType()),
               NestedField(5, "d", DecimalType(9, 2), required=True,
                           initial_default=Decimal("1.50"), write_default=Decimal("-0.01")),
               NestedField(6, "day", DateType(), required=True, initial_default=date(2024, 2, 29)),
               NestedField(7, "bytes", FixedType(2), required=True, initial_default=b"\x00\xff")]
    return new_table_metadata(
        Schema(*columns), PartitionSpec(PartitionField(2, 1000, DayTransform(), "day_of_ns")),
        SortOrder(SortField(1, IdentityTransform())), "file:///w/t", {"format-version": "3"})


def text_of_v3_table(table):
    return IcebergBaseModel.model_dump_json(table)
