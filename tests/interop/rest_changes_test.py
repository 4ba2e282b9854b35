#!/usr/bin/env python3
"""What PyIceberg's REST client changes in tables, step by step: every process of the host sees it.

    rest_changes_test.py --bin DIRECTORY [unittest's arguments]

DIRECTORY has the programs of the build. Run by run.py, in the environment that has PyIceberg."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import pyarrow
from pyarrow import parquet
from pyiceberg.exceptions import CommitFailedException, RESTError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder
from pyiceberg.table.statistics import BlobMetadata, StatisticsFile
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (DecimalType, DoubleType, FloatType, IntegerType, LongType, MapType,
                             NestedField, StringType, StructType, TimestampType)
from rest_test_case import RestTestCase, path_of, run_tests, version_of
from small_tables import ARROW, SCHEMA, rows


class Rows(RestTestCase):
    def check_history(self, properties, spec):
        table = self.pyiceberg.create_table("n.t", SCHEMA, partition_spec=spec,
                                            properties=properties)
        expected = {}

        def check(version, **changes):
            expected.update(changes)
            self.assert_agree(table, version)
            self.assertEqual({f"n{row['id']}": row["name"] for row in self.rows_of(("n", "t"))},
                             {key: value for key, value in expected.items() if value is not None})

        table.append(rows(1, 2, 3))
        check(1, n1="n1", n2="n2", n3="n3")
        table.append(rows(4), snapshot_properties={"made.by": "ü"})
        check(2, n4="n4")
        table.delete("id = 1")
        check(3, n1=None)
        table.overwrite(rows(3, name="o"), overwrite_filter="id = 3")
        versions = len(table.metadata.snapshots)
        self.assertGreaterEqual(versions, 4)
        check(4, n3="o3")
        result = table.upsert(rows(4, 5, name="u"), join_cols=["id"])
        self.assertEqual((result.rows_updated, result.rows_inserted), (1, 1))
        check(5, n4="u4", n5="u5")
        table.overwrite(rows(9))
        check(6, n2=None, n3=None, n4=None, n5=None, n9="n9")
        table.delete()
        check(7, n9=None)

    def test_of_format_1(self):
        self.check_history({"format-version": "1"}, PartitionSpec())

    def test_of_format_2(self):
        self.check_history({"format-version": "2"}, PartitionSpec())

    def test_partitioned(self):
        self.check_history({}, PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "b")))

    def test_of_one_partition_overwritten(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA, partition_spec=PartitionSpec(
            PartitionField(2, 1000, IdentityTransform(), "name")))
        table.append(rows(1, 2))
        table.dynamic_partition_overwrite(pyarrow.table([[7], ["n1"]], schema=ARROW))
        self.assert_agree(table, 2)
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [2, 7])

    def test_of_files_that_are_there(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        file = f"{self.server.warehouse}/given.parquet"
        parquet.write_table(rows(1, 2), file)
        table.add_files([file])
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [1, 2])
        self.assert_agree(table)  # it sets a property too


class Evolution(RestTestCase):
    def changed(self, table, change):
        """After one commit."""
        before = len(table.metadata.metadata_log)
        change(table)
        self.assert_agree(table, before + 1)

    def test_of_the_schema(self):
        table = self.pyiceberg.create_table("n.t", Schema(
            NestedField(1, "id", IntegerType(), required=True), NestedField(2, "f", FloatType()),
            NestedField(3, "d", DecimalType(9, 2)), NestedField(4, "at", TimestampType()),
            NestedField(5, "s", StructType(NestedField(6, "x", IntegerType())))))

        def change(of):
            def commit(table):
                with table.update_schema(allow_incompatible_changes=True) as update:
                    of(update)
            self.changed(table, commit)

        change(lambda update: update.add_column("added", MapType(1, StringType(), 2, LongType())))
        change(lambda update: update.add_column(("s", "deep"), LongType(), doc="ü"))
        change(lambda update: update.rename_column("f", "g"))
        change(lambda update: update.update_column("id", field_type=LongType()))
        change(lambda update: update.update_column("g", field_type=DoubleType()))
        change(lambda update: update.update_column("d", field_type=DecimalType(12, 2), doc="wide"))
        change(lambda update: update.move_first("d").move_after("at", "d"))
        change(lambda update: update.make_column_optional("id"))
        change(lambda update: update.update_column("id", required=True))
        change(lambda update: update.set_identifier_fields("id"))
        change(lambda update: update.delete_column("added"))
        self.assertEqual(table.schema().column_names, ["d", "at", "id", "g", "s.x", "s.deep", "s"])
        # A schema that was there has its id again.
        self.assertEqual(len(table.schemas()), 11)
        change(lambda update: update.rename_column("g", "h"))
        before = table.schema().schema_id
        change(lambda update: update.rename_column("h", "g"))
        self.assertEqual((before, table.schema().schema_id, len(table.schemas())), (11, 10, 12))

    def test_of_the_spec_and_the_order(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)

        def spec(of):
            def commit(table):
                with table.update_spec() as update:
                    of(update)
            self.changed(table, commit)

        def order(of):
            def commit(table):
                with table.update_sort_order() as update:
                    of(update)
            self.changed(table, commit)

        spec(lambda update: update.add_field("id", BucketTransform(4), "b"))
        table.append(rows(1))
        spec(lambda update: update.add_field("name", TruncateTransform(2), "t"))
        spec(lambda update: update.rename_field("b", "in_buckets"))
        spec(lambda update: update.remove_field("t"))
        order(lambda update: update.asc("name", TruncateTransform(3), NullOrder.NULLS_FIRST))
        order(lambda update: update.desc("id", IdentityTransform(), NullOrder.NULLS_LAST))
        table.append(rows(2))
        self.assert_agree(table)
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [1, 2])
        self.assertEqual(len(table.specs()), 5)

    def test_of_properties_and_the_version(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA, properties={"format-version": "1"})
        self.changed(table, lambda table: table.transaction().set_properties(
            {"ü": "\U0001f9ca \"\\\n", "number": 1, "empty": ""}).commit_transaction())
        with table.transaction() as transaction:
            transaction.remove_properties("number")
            transaction.upgrade_table_version(2)
        self.assert_agree(table, 2)
        self.assertEqual((table.format_version, table.properties),
                         (2, {"ü": "\U0001f9ca \"\\\n", "empty": ""}))
        with table.transaction() as transaction:
            transaction.set_properties({"empty": ""})
        self.assertEqual(self.pointer(("n", "t")), table.metadata_location)

    def test_of_all_in_one_transaction(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        with table.transaction() as transaction:
            with transaction.update_schema() as update:
                update.add_column("day", TimestampType())
            with transaction.update_spec() as update:
                update.add_field("day", DayTransform(), "by_day")
            transaction.set_properties({"k": "v"})
        self.assert_agree(table, 1)
        with table.transaction() as transaction:
            for number in (1, 2):
                day = pyarrow.array([number], pyarrow.timestamp("us"))
                transaction.append(rows(number).append_column("day", day))
            transaction.delete("id = 1")
        self.assert_agree(table, 2)
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [2])

    def test_keeps_as_many_old_files_as_it_is_told(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA, properties={
            "write.metadata.previous-versions-max": "2"})
        for number in range(1, 6):
            table.append(rows(number))
            self.assert_agree(table, number)
        self.assertEqual(len(table.metadata.metadata_log), 2)
        with table.transaction() as transaction:
            transaction.set_properties({"write.metadata.delete-after-commit.enabled": "true"})
        table.append(rows(6))
        self.assert_agree(table, 7)
        files = path_of(table.location()).rglob("*.metadata.json")
        # Of those that the log had lost before, nothing is known.
        self.assertEqual(sorted(map(version_of, map(str, files))), [0, 1, 2, 5, 6, 7])


class Conflicts(RestTestCase):
    def test_changes_of_old_schemas_are_refused(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        stale = self.pyiceberg.load_table("n.t")
        with table.update_schema() as update:
            update.add_column("a", LongType())
        with self.assertRaisesRegex(CommitFailedException, "Requirement failed"):
            with stale.update_schema() as update:
                update.add_column("b", LongType())
        self.assert_agree(table, 1)

    def test_of_another_table_of_that_name(self):
        stale = self.pyiceberg.create_table("n.t", SCHEMA)
        self.pyiceberg.drop_table("n.t")
        with self.assertRaisesRegex(RESTError, "NoSuchTableException"):
            with stale.transaction() as transaction:
                transaction.set_properties({"k": "v"})
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        with self.assertRaisesRegex(CommitFailedException, "UUID"):
            with stale.transaction() as transaction:
                transaction.set_properties({"k": "v"})
        self.assert_agree(table, 0)

    def test_appends_are_tried_again(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        stale = self.pyiceberg.load_table("n.t")
        table.append(rows(1))
        stale.append(rows(2))
        self.assert_agree(stale, 2)
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [1, 2])

    def test_properties_beside_a_change_of_the_schema(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        stale = self.pyiceberg.load_table("n.t")
        with table.update_schema() as update:
            update.add_column("a", LongType())
        with stale.transaction() as transaction:
            transaction.set_properties({"k": "v"})
        self.assert_agree(stale, 2)
        self.assertEqual((stale.schema().column_names, stale.properties),
                         (["id", "name", "a"], {"k": "v"}))


class Snapshots(RestTestCase):
    def test_branches_and_tags(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        table.append(rows(1))
        first = table.current_snapshot().snapshot_id
        table.append(rows(2))
        second = table.current_snapshot().snapshot_id
        table.manage_snapshots().create_tag(first, "v1 ü", max_ref_age_ms=2**63 - 1).commit()
        self.assert_agree(table, 3)
        table.manage_snapshots().create_branch(
            second, "audit", max_ref_age_ms=1, max_snapshot_age_ms=2,
            min_snapshots_to_keep=3).commit()
        self.assert_agree(table, 4)
        table.append(rows(3), branch="audit")
        self.assert_agree(table, 5)
        self.assertEqual(table.current_snapshot().snapshot_id, second)
        audited = table.scan().use_ref("audit").to_arrow()
        self.assertEqual(sorted(audited["id"].to_pylist()), [1, 2, 3])
        table.manage_snapshots().remove_tag("v1 ü").remove_branch("audit").commit()
        self.assert_agree(table, 6)
        self.assertEqual(set(table.refs()), {"main"})

    def test_go_back_and_expire(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        for number in range(4):
            table.append(rows(number))
        first, second, third, fourth = (s.snapshot_id for s in table.metadata.snapshots)
        table.manage_snapshots().rollback_to_snapshot(second).commit()
        self.assert_agree(table, 5)
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [0, 1])
        table.manage_snapshots().set_current_snapshot(snapshot_id=third).commit()
        self.assert_agree(table, 6)
        table.maintenance.expire_snapshots().by_ids([first, fourth]).commit()
        self.assert_agree(table, 7)
        self.assertEqual([s.snapshot_id for s in table.metadata.snapshots], [second, third])
        self.assertEqual([row["id"] for row in self.rows_of(("n", "t"))], [0, 1, 2])

    def test_only_those_that_are_referenced_are_loaded(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        for number in range(3):
            table.append(rows(number))
        first, _, third = (s.snapshot_id for s in table.metadata.snapshots)
        table.manage_snapshots().create_tag(first, "first").commit()
        loaded = self.new_pyiceberg(**{"snapshot-loading-mode": "refs"}).load_table("n.t")
        self.assertEqual([s.snapshot_id for s in loaded.metadata.snapshots], [first, third])
        self.assertEqual(loaded.metadata_location, table.metadata_location)
        self.assertEqual(loaded.scan().to_arrow().num_rows, 3)
        loaded.append(rows(3))
        self.assertEqual(len(self.pyiceberg.load_table("n.t").metadata.snapshots), 4)

    def test_statistics(self):
        table = self.pyiceberg.create_table("n.t", SCHEMA)
        table.append(rows(1))
        snapshot = table.current_snapshot()
        statistics = StatisticsFile(
            snapshot_id=snapshot.snapshot_id, statistics_path=f"{table.location()}/s.puffin",
            file_size_in_bytes=2**63 - 1, file_footer_size_in_bytes=42,
            blob_metadata=[BlobMetadata(
                type="apache-datasketches-theta-v1", snapshot_id=snapshot.snapshot_id,
                sequence_number=1, fields=[1, 2], properties={"ndv": "3"})])
        with table.update_statistics() as update:
            update.set_statistics(statistics)
        self.assert_agree(table, 2)
        self.assertEqual(table.metadata.statistics, [statistics])
        with table.update_statistics() as update:
            update.remove_statistics(snapshot.snapshot_id)
        self.assert_agree(table, 3)
        self.assertEqual(table.metadata.statistics, [])


if __name__ == "__main__":
    run_tests()
