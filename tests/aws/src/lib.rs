//! Nothing here but the tests in `tests/`, and the features that they are built with.
