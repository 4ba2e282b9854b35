// Only for its precompiled header, which the tests take.
