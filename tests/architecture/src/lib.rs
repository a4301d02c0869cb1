//! Nothing here but the tests in `tests/`.
