"""What bounds a row: the other side of these rows is the least that the work takes at all, not an
alternative to iceblink."""

LIMITS = (
    ("C1/10k/find", "a hash map inside the process, all in the caches of the CPU"),
    ("C1/1M/find", "the same map; memory latency: about two lines that no cache has"),
    ("C3/load_table/find", "the lookup that finds the record; one more line, the handle, is read"),
    ("C3/resolve_metadata/find", "the same"),
    ("C5/wake", "a bare futex between the same two processes: two system calls and the scheduler"),
    ("C8/1M", "a scan of the same LMDB, in which every row is read once"),
    ("C6b/64", "as many threads that create and sync the same files and directories"),
    ("C6b/1", "the same by one; beside the file, the store is synced"),
    ("commit/10-snapshots", "the same file created and synced by one thread"),
    ("scale_snapshots/dom/1k", "simdjson's DOM of the same text: two passes over its bytes"),
    ("scale_snapshots/dom/100k", "the same of a text that no cache holds: memory bandwidth"),
    ("C12/same-cpu/head", "a round trip to a Beast server that answers 204 to everything"),
    ("C12/same-cpu/get", "the same, without a body"),
    ("C12/other-cpu/head", "a round trip between two CPUs"),
    ("C12/other-cpu/get", "the same, without a body"),
    ("C4/1M-vs-1k", "the same publish where everything is in the caches of the CPU"),
)
