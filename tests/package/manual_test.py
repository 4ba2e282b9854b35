"""manual_test.py BIN_DIR MAN_DIR: the manual pages name every option and command of the programs, and
nothing else."""

import re
import subprocess
import sys
from pathlib import Path

# Of builds that have tests; or on every command.
UNSAID = {"--help", "--version", "--list-fault-points", "--fault-point"}


def help_of(*command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout


def options_of(text):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", text, re.MULTILINE)) - UNSAID


def commands_of(text):
    """The names below "Subcommands:"."""
    _, _, listed = text.partition("\nSubcommands:\n")
    return re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)


def said_in(page):
    text = Path(page).read_text().replace("\\-", "-")
    options = set(re.findall(r"^\.TP\n\\fB(--[a-z][a-z0-9-]*)\\fR", text, re.MULTILINE))
    commands = set(re.findall(r"^\.SS \\fB([a-z][a-z -]*)\\fR", text, re.MULTILINE))
    return options, commands


def all_of(program):
    """All options of a program and its commands; the commands without commands below them."""
    text = help_of(program)
    options, commands = options_of(text), set()
    for name in commands_of(text):
        below = help_of(program, name)
        for last in commands_of(below) or [None]:
            command = [name] if last is None else [name, last]
            options |= options_of(help_of(program, *command))
            commands.add(" ".join(command))
    return options, commands


def main():
    bin_dir, man_dir = map(Path, sys.argv[1:])
    problems = []
    for program, page in (("iceblink", "iceblink.1"), ("iceblinkd", "iceblinkd.8")):
        for known, said, what in zip(all_of(bin_dir / program), said_in(man_dir / page),
                                     ("option", "command")):
            problems += [f"{page} does not say {what} {name}" for name in sorted(known - said)]
            problems += [f"{page} says {what} {name}, which there is not"
                         for name in sorted(said - known)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
