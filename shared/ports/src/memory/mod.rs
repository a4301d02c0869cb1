//! Ports in memory, for tests: real in what they promise, and with a clock that tests move.
