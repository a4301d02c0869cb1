//! What each route does: parse, read or write through the ports, answer.

pub(crate) mod events;
pub(crate) mod installation;
pub(crate) mod log;
pub(crate) mod plan;
pub(crate) mod requests;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod sources;
pub(crate) mod stacks;

use serde::Deserialize;
use utoipa::IntoParams;
use yuba_ports::Cursor;

/// How many items a page has at most, and unless told otherwise.
const MOST_ITEMS: usize = 100;

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct PageParams {
    /// How many items at most; 1 to 100.
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
}

impl PageParams {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(MOST_ITEMS).clamp(1, MOST_ITEMS)
    }

    fn after(&self) -> Option<Cursor> {
        self.cursor.clone().map(Cursor)
    }
}
