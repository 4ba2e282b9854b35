"""Tables with a history, made by PyIceberg: snapshots, branches and tags; changed schemas and
partition specs; partitions of every type."""

import datetime
import time
import uuid
from decimal import Context, Decimal

import pyarrow
from pyiceberg import types
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec, _to_partition_representation
from pyiceberg.schema import Schema
from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform,
                                  MonthTransform, TruncateTransform, YearTransform)
from pyiceberg.types import NestedField

from delete_files import delete_positions, delete_values


def transform_in_python(transform, source):
    """The values of an Arrow array by the transform that PyIceberg plans with. It writes by another
    one, of a library that is not installed."""
    apply = transform.transform(source)
    is_truncate = isinstance(transform, TruncateTransform)
    result = schema_to_pyarrow(source) if is_truncate else pyarrow.int32()
    return lambda array: pyarrow.array(
        [None if value is None else apply(_to_partition_representation(source, value))
         for value in array.to_pylist()], result)


for _transform in (BucketTransform, DayTransform, HourTransform, MonthTransform, TruncateTransform,
                   YearTransform):
    _transform.pyarrow_transform = transform_in_python


def make_catalog(directory):
    catalog = SqlCatalog("test", uri=f"sqlite:///{directory}/catalog.db",
                         warehouse=f"file://{directory}/warehouse")
    catalog.create_namespace("n")
    return catalog


def wait_for_the_clock():
    """Until the next snapshot's time is another one."""
    now = time.time_ns() // 10**6
    while time.time_ns() // 10**6 == now:
        pass


EVENTS = Schema(NestedField(1, "id", types.IntegerType()), NestedField(2, "kind", types.StringType()),
                NestedField(3, "at", types.TimestampType()), NestedField(4, "on", types.DateType()),
                NestedField(5, "size", types.FloatType()))
KINDS = ("cat", "dog", None, "ä/=b", "")


def events(table, first, count):
    """Rows for the table's present columns, whatever has become of them."""
    at = [datetime.datetime(2026, 1, 30) + datetime.timedelta(hours=7 * n)
          for n in range(first, first + count)]
    values = {1: list(range(first, first + count)),
              2: [KINDS[n % len(KINDS)] for n in range(first, first + count)],
              3: at, 4: [moment.date() for moment in at],
              5: [n / 2 for n in range(first, first + count)],
              6: [f"ü{n}" if n % 4 else None for n in range(first, first + count)]}
    schema = table.schema()
    columns = [values.get(field.field_id, [None] * count) for field in schema.fields]
    return pyarrow.table(columns, schema=schema.as_arrow())


def make_evolved(catalog, version):
    """Every change of schema and spec that PyIceberg has, with files of before and after."""
    table = catalog.create_table(f"n.evolved_{version}", EVENTS,
                                 properties={"format-version": str(version)})
    count = 0

    def append(rows):
        nonlocal count
        wait_for_the_clock()
        table.append(events(table, count, rows))
        count += rows

    append(5)
    for name, transform in (("kind", IdentityTransform()), ("id", BucketTransform(4))):
        with table.update_spec() as update:
            update.add_field(name, transform, f"by_{name}")
        append(8)
    with table.update_schema() as update:
        update.add_column("note", types.StringType())
        update.rename_column("kind", "sort")
        update.update_column("id", field_type=types.LongType())
        update.update_column("size", field_type=types.DoubleType())
    append(4)
    with table.update_spec() as update:
        update.remove_field("by_kind")
        update.add_field("at", DayTransform(), "day")
        update.add_field("on", MonthTransform(), "month")
        update.add_field("note", TruncateTransform(2), "initial")
    append(6)
    wait_for_the_clock()
    table.overwrite(events(table, 3, 2), overwrite_filter="id == 3 or id == 4")
    with table.update_spec() as update:
        for name in ("day", "month", "initial", "by_id"):
            update.remove_field(name)
    with table.update_schema() as update:
        update.delete_column("size")
    append(3)
    wait_for_the_clock()
    table.delete("id < 2")
    wait_for_the_clock()
    table.delete("sort == 'cat'")
    if version > 1:  # in format 1 a removed partition field stays, as void, and needs its column
        with table.update_schema() as update:
            update.delete_column("on")
        append(2)
    return table


def make_branched(catalog, version):
    """Branches and tags, a main that was rolled back, snapshots that expired."""
    table = catalog.create_table(f"n.branched_{version}", EVENTS,
                                 properties={"format-version": str(version)})
    for first in range(0, 12, 3):
        wait_for_the_clock()
        table.append(events(table, first, 3))
    ids = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
    table.manage_snapshots().create_tag(ids[1], "v1.0 ü").commit()
    table.manage_snapshots().create_branch(ids[2], "audit").commit()
    wait_for_the_clock()
    table.append(events(table, 100, 2), branch="audit")
    wait_for_the_clock()
    table.manage_snapshots().rollback_to_snapshot(ids[1]).commit()
    wait_for_the_clock()
    table.append(events(table, 200, 4))
    wait_for_the_clock()
    table.manage_snapshots().set_current_snapshot(snapshot_id=ids[3]).commit()
    wait_for_the_clock()
    table.delete("id == 1")
    table.maintenance.expire_snapshots().by_id(ids[0]).commit()
    return table


def make_merged(catalog):
    """Manifests that are rewritten into others, with entries that exist and that are deleted."""
    table = catalog.create_table("n.merged", EVENTS, properties={
        "format-version": "2", "commit.manifest-merge.enabled": "true",
        "commit.manifest.min-count-to-merge": "2", "write.manifest.min-merge-count": "2"})
    for first in range(0, 20, 2):
        wait_for_the_clock()
        table.append(events(table, first, 2))
        if first % 6 == 4:
            wait_for_the_clock()
            table.delete(f"id == {first}")
    return table


def make_empty(catalog):
    return catalog.create_table("n.empty", EVENTS)


def days(*numbers):
    return [None if n is None else datetime.date(1970, 1, 1) + datetime.timedelta(days=n)
            for n in numbers]


def moments(*microseconds, zone=None):
    return [None if n is None else
            datetime.datetime(1970, 1, 1, tzinfo=zone) + datetime.timedelta(microseconds=n)
            for n in microseconds]


UTC = datetime.timezone.utc
# Per type, the values of three rows: nulls beside the extremes that PyIceberg can write. No NaN.
VALUES = {
    types.BooleanType(): [True, False, None],
    types.IntegerType(): [-2**31, 2**31 - 1, None],
    types.LongType(): [-2**63, 2**53 + 1, None],
    types.FloatType(): [float("-inf"), -0.5, None],
    types.DoubleType(): [float("inf"), 0.125, None],  # PyIceberg writes them as floats
    types.DecimalType(9, 2): [Decimal("-0.05"), Decimal("14.20"), None],
    types.DecimalType(38, 10): [Decimal("1234567890123456789012345678.0000000001"),
                                Decimal("-1.0000000000"), None],
    types.DateType(): days(-1, 20000, None),
    types.TimeType(): [datetime.time(0, 0), datetime.time(23, 59, 59, 999999), None],
    types.TimestampType(): moments(-1, 1700000000000001, None),
    types.TimestamptzType(): moments(-86400000001, 1700000000000000, None, zone=UTC),
    types.StringType(): ["ü/=%\n\"", "", None],
    types.FixedType(3): [b"\x00\xff\x7f", b"abc", None],
    types.BinaryType(): [b"", b"\x00\x80", None],
    types.UUIDType(): [uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes, None],
}
# Transforms of columns, beside identity.
TRANSFORMS = {
    types.IntegerType(): [BucketTransform(7), TruncateTransform(2)],
    types.LongType(): [BucketTransform(16), TruncateTransform(2**30)],
    types.DecimalType(9, 2): [BucketTransform(3), TruncateTransform(50)],
    types.DateType(): [YearTransform(), MonthTransform(), DayTransform(), BucketTransform(5)],
    types.TimestampType(): [YearTransform(), MonthTransform(), DayTransform(), HourTransform()],
    types.TimestamptzType(): [YearTransform(), MonthTransform(), DayTransform(), HourTransform()],
    types.StringType(): [BucketTransform(100), TruncateTransform(2)],
    types.BinaryType(): [BucketTransform(4), TruncateTransform(1)],
    types.UUIDType(): [BucketTransform(9)]}


def make_partitioned(catalog, version):
    """A table per type and transform, each with three rows."""
    for at, (type, values) in enumerate(VALUES.items()):
        transforms = [IdentityTransform(), *TRANSFORMS.get(type, [])]
        if type == types.UUIDType():  # Arrow cannot group by it
            transforms.remove(IdentityTransform())
        for transform in transforms:
            name = f"n.p{at}_{str(transform).replace('[', '_').replace(']', '')}_{version}"
            schema = Schema(NestedField(1, "n", types.IntegerType()), NestedField(2, "v", type))
            spec = PartitionSpec(PartitionField(2, 1000, transform, "part ü"))
            table = catalog.create_table(name, schema, partition_spec=spec,
                                         properties={"format-version": str(version)})
            rows = {"n": list(range(len(values))), "v": values}
            table.append(pyarrow.table(rows, schema=schema.as_arrow()))
            yield table


def data_files(table, spec_id, kind=...):
    """Of the current snapshot, oldest first; of one partition by `kind`."""
    manifests = reversed(table.current_snapshot().manifests(table.io))
    files = [entry.data_file for manifest in manifests
             for entry in manifest.fetch_manifest_entry(table.io)]
    return [file for file in files if file.content == 0 and file.spec_id == spec_id
            and (kind is ... or file.partition[0] == kind)]


def make_deleted(catalog, name):
    """A table without files, whose steps are given: ten rows each; or partitions from now on."""
    table = catalog.create_table(name, EVENTS, properties={"format-version": "2"})

    def append(first):
        wait_for_the_clock()
        table.append(events(table, first, 10))

    def partition():
        with table.update_spec() as update:
            update.add_field("kind", IdentityTransform(), "by_kind")

    return table, append, partition


def make_deleted_by_position(catalog):
    """Deletes of rows of one or of several files, in files of two partition specs, which are older
    and newer."""
    table, append, partition = make_deleted(catalog, "n.positions")
    append(0)
    append(10)
    delete_positions(table, data_files(table, 0), [0, 3], has_bounds=False)
    append(20)
    delete_positions(table, data_files(table, 0)[:1], [1], has_bounds=True)
    partition()
    append(30)
    append(40)
    delete_positions(table, data_files(table, 1, "cat"), [0], has_bounds=False)
    delete_positions(table, data_files(table, 1, None)[1:], [1], has_bounds=True)
    delete_positions(table, data_files(table, 1, "dog"), [0, 1], has_bounds=True)
    append(50)
    return table


def make_deleted_by_value(catalog):
    """Deletes of values in one partition, and, by the spec without partitions, in all of them."""
    table, append, partition = make_deleted(catalog, "n.values")
    append(0)
    unpartitioned = data_files(table, 0)[0]
    delete_values(table, unpartitioned, 1, [3])
    partition()
    append(10)
    append(20)
    delete_values(table, data_files(table, 1, "cat")[0], 1, [10, 20])
    delete_values(table, data_files(table, 1, None)[0], 1, [12])
    append(30)
    delete_values(table, unpartitioned, 1, [11, 31])
    append(40)
    return table


BOUNDED = Schema(
    NestedField(1, "flag", types.BooleanType()), NestedField(2, "int", types.IntegerType()),
    NestedField(3, "long", types.LongType()), NestedField(4, "float", types.FloatType()),
    NestedField(5, "double", types.DoubleType()), NestedField(6, "dec", types.DecimalType(9, 2)),
    NestedField(7, "day", types.DateType()), NestedField(8, "time", types.TimeType()),
    NestedField(9, "at", types.TimestampType()), NestedField(10, "at_utc", types.TimestamptzType()),
    NestedField(11, "text", types.StringType()), NestedField(12, "bytes", types.BinaryType()),
    NestedField(13, "none", types.LongType()),
    NestedField(14, "s", types.StructType(NestedField(15, "x", types.LongType()))))


def make_bounded(catalog):
    """Files with other ranges of values in each column; texts that are longer than bounds are."""
    table = catalog.create_table("n.bounded", BOUNDED, properties={"format-version": "2"})
    for first in range(-40, 40, 8):
        numbers = [n if n % 5 else None for n in range(first, first + 6)]

        def each(made):
            return [None if n is None else made(n) for n in numbers]

        columns = [each(lambda n: n > 0), numbers, each(lambda n: n * 10**15),
                   each(lambda n: n / 4), each(lambda n: n * 1e100),
                   each(lambda n: Decimal(n).scaleb(-2)), days(*numbers),
                   each(lambda n: datetime.time(n % 24, 0, 1)),
                   moments(*each(lambda n: n * 10**12)),
                   moments(*each(lambda n: n * 10**9), zone=UTC),
                   each(lambda n: chr(ord("z") + n) * 20 + str(n)),
                   each(lambda n: bytes([128 + n]) * 20), [None] * len(numbers),
                   each(lambda n: {"x": n if n % 3 else None})]
        table.append(pyarrow.table(columns, schema=BOUNDED.as_arrow()))
    return table


def make_with_nans(catalog):
    """Files without numbers, with them, and with both."""
    schema = Schema(NestedField(1, "f", types.FloatType()), NestedField(2, "d", types.DoubleType()))
    table = catalog.create_table("n.nans", schema, properties={"format-version": "2"})
    nan = float("nan")
    for numbers in ([nan, nan], [nan, None], [None, None], [1.5, 2.5], [nan, 1.5], [-2.5, None, nan],
                    [float("inf"), 0.0], [float("-inf"), -0.0]):
        table.append(pyarrow.table([numbers, numbers[::-1]], schema=schema.as_arrow()))
    return table


def beside(type, values):
    """Values of the type that are near these, or between them."""
    if isinstance(type, (types.IntegerType, types.LongType)):
        bits = 31 if isinstance(type, types.IntegerType) else 63
        return [near for v in values for near in (v - 1, v + 1) if -2**bits <= near < 2**bits]
    if isinstance(type, (types.FloatType, types.DoubleType)):
        return [near for v in values for near in (v - 1, v + 1)]
    if isinstance(type, types.DecimalType):
        wide = Context(prec=60)
        return [wide.add(v, Decimal((sign, (1,), v.as_tuple().exponent)))
                for v in values for sign in (0, 1)]
    if isinstance(type, (types.TimestampType, types.TimestamptzType)):
        steps = (datetime.timedelta(microseconds=1), datetime.timedelta(days=40))
        return [near for v in values for step in steps for near in (v - step, v + step)]
    if isinstance(type, types.DateType):
        return [v + datetime.timedelta(days=step) for v in values for step in (-1, 1, 400)]
    if isinstance(type, (types.StringType, types.BinaryType)):
        more = "x" if isinstance(type, types.StringType) else b"x"
        return [near for v in values for near in (v[:-1], v[:3], v + more)]
    return []
