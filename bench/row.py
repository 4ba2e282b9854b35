"""One line of the result: two sides, their ratio, and what it must reach."""

import dataclasses

from program import median, quartiles


@dataclasses.dataclass
class Row:
    name: str  # begins with the row of the design: C1/10k
    what: str
    unit: str
    ours: float
    theirs: float | None
    ratio: float
    spread: list[float]  # the middle half of the ratio, round by round
    target: str = "-"
    is_valid: bool = True  # false: not measured under the conditions that the row names

    @property
    def passed(self):
        if not self.is_valid:
            return False
        if self.target == "-":
            return True
        sign, limit = self.target.split()
        return self.ratio <= float(limit) if sign == "<=" else self.ratio >= float(limit)

    def as_json(self, smoke):
        return {"name": self.name, "ours": self.ours, "theirs": self.theirs, "ratio": self.ratio,
                "target": self.target, "pass": self.passed, "unit": self.unit,
                "spread": self.spread, "what": self.what, "smoke": smoke}


def ratio_row(name, what, unit, ours, theirs, target="-", scale=1.0):
    """ours / theirs where less is better (a target of <=), else theirs / ours."""
    top, bottom = (theirs, ours) if target.startswith(">=") else (ours, theirs)
    return _row(name, what, unit, ours, theirs, top, bottom, target, scale)


def rate_row(name, what, unit, ours, theirs, target="-", scale=1.0):
    """ours / theirs of rates: more is better."""
    return _row(name, what, unit, ours, theirs, ours, theirs, target, scale)


def absolute_row(name, what, unit, ours, theirs, target="-", scale=1.0):
    """Ours against a number; theirs for comparison."""
    scaled = [value * scale for value in ours]
    return Row(name, what, unit, median(scaled), median(theirs) * scale if theirs else None,
               median(scaled), list(quartiles(scaled)), target)


def _row(name, what, unit, ours, theirs, top, bottom, target, scale):
    paired = [a / b for a, b in zip(top, bottom)]
    return Row(name, what, unit, median(ours) * scale, median(theirs) * scale,
               median(top) / median(bottom), list(quartiles(paired)), target)
