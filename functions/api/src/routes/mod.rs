//! What each route does: parse, read or write through the ports, answer.

pub(crate) mod audit;
pub(crate) mod events;
pub(crate) mod installation;
pub(crate) mod log;
pub(crate) mod manifests;
pub(crate) mod plan;
pub(crate) mod providers;
pub(crate) mod queues;
pub(crate) mod recovery;
pub(crate) mod requests;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod sources;
pub(crate) mod stacks;
pub(crate) mod tokens;
pub(crate) mod why;

use serde::Deserialize;
use utoipa::IntoParams;
use yuba_ports::Cursor;

use crate::problem::Problem;

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

    fn after(&self) -> Result<Option<Cursor>, Problem> {
        after(self.cursor.as_deref())
    }
}

/// The place after which a page begins.
fn after(cursor: Option<&str>) -> Result<Option<Cursor>, Problem> {
    let read = |text: &str| {
        text.parse().map_err(|error| {
            Problem::malformed(format!("cursor: {error}"))
                .with_help("send the `next` of the page before as it is")
        })
    };
    cursor.map(read).transpose()
}
