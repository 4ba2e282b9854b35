"""Another process of the host, which sees the catalog in shared memory alone."""

import subprocess


class PointerWatch:
    """Use it in a `with`: the process is ended there."""

    def __init__(self, bin_dir, runtime_dir):
        self.command = [bin_dir / "pointer_watch", runtime_dir]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def location_of(self, name):
        """Where the table points now; None where there is none."""
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().removesuffix("\n")
        if not answer or answer.startswith("error: "):
            raise AssertionError(f"pointer_watch: {name}: {answer or 'ended'}")
        return None if answer == "-" else answer
