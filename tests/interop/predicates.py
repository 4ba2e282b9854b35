"""Predicates three times: as plan_dump takes them, as PyIceberg does, and as a function of a row."""

import datetime
import json
import operator
import uuid
from decimal import Decimal

from pyiceberg import expressions

COMPARISONS = {"==": (expressions.EqualTo, operator.eq), "!=": (expressions.NotEqualTo, operator.ne),
               "<": (expressions.LessThan, operator.lt),
               "<=": (expressions.LessThanOrEqual, operator.le),
               ">": (expressions.GreaterThan, operator.gt),
               ">=": (expressions.GreaterThanOrEqual, operator.ge)}


def literal(value):
    """As PyIceberg takes it: times, decimals and UUIDs as texts."""
    if isinstance(value, (datetime.datetime, datetime.time)):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value) if isinstance(value, (Decimal, uuid.UUID)) else value


def our_literal(value):
    """As plan_dump takes it: bytes, and numbers to their last bit, are objects."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return {"double": repr(value)} if isinstance(value, float) else literal(value)


class Predicate:
    def __init__(self, ours, theirs, matches, columns):
        self.ours = ours  # JSON
        self.theirs = theirs
        self.matches = matches  # of a row: True, False, or None, which is unknown
        self.columns = columns

    @staticmethod
    def compare(column, comparison, value):
        expression, compared = COMPARISONS[comparison]
        return Predicate(
            [comparison, column, our_literal(value)], expression(column, literal(value)),
            lambda row: None if row.get(column) is None else compared(row[column], value),
            {column})

    @staticmethod
    def is_null(column):
        return Predicate(["is-null", column], expressions.IsNull(column),
                         lambda row: row.get(column) is None, {column})

    @staticmethod
    def not_null(column):
        return Predicate(["not-null", column], expressions.NotNull(column),
                         lambda row: row.get(column) is not None, {column})

    def __and__(self, other):
        def matches(row):
            sides = self.matches(row), other.matches(row)
            return False if False in sides else None if None in sides else True
        return Predicate(["and", self.ours, other.ours],
                         expressions.And(self.theirs, other.theirs), matches,
                         self.columns | other.columns)

    def __or__(self, other):
        def matches(row):
            sides = self.matches(row), other.matches(row)
            return True if True in sides else None if None in sides else False
        return Predicate(["or", self.ours, other.ours],
                         expressions.Or(self.theirs, other.theirs), matches,
                         self.columns | other.columns)

    def __invert__(self):
        def matches(row):
            side = self.matches(row)
            return None if side is None else not side
        return Predicate(["not", self.ours], expressions.Not(self.theirs), matches, self.columns)


    def has(self, word):
        return f'"{word}"' in json.dumps(self.ours)


def draw(random, columns, depth=3):
    """`columns`: for each, values to compare it with."""
    kind = random.random()
    if depth > 1 and kind < 0.3:
        return draw(random, columns, depth - 1) & draw(random, columns, depth - 1)
    if depth > 1 and kind < 0.5:
        return draw(random, columns, depth - 1) | draw(random, columns, depth - 1)
    if depth > 1 and kind < 0.6:
        return ~draw(random, columns, depth - 1)
    column = random.choice(list(columns))
    if kind > 0.95:
        return Predicate.is_null(column)
    if kind > 0.9:
        return Predicate.not_null(column)
    return Predicate.compare(column, random.choice(list(COMPARISONS)),
                             random.choice(columns[column]))
