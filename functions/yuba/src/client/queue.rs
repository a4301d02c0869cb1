//! `queue list` and `queue redrive`: messages that could not be handled.

use std::process::ExitCode;

use anyhow::Result;
use reqwest::Method;
use yuba_api::wire::{DeadLetterItem, Redriven};

use super::args::{Queue, QueueArg};
use super::ask::Asker;
use super::get::print_list;
use super::print;
use crate::render;

/// Does what a verb about queues says.
pub(crate) async fn run(asker: &Asker<'_>, queue: Queue) -> Result<ExitCode> {
    match queue {
        Queue::List { queue } => list(asker, queue).await,
        Queue::Redrive { queue } => redrive(asker, queue).await,
    }
}

async fn list(asker: &Asker<'_>, queue: QueueArg) -> Result<ExitCode> {
    let path = format!("/api/v1/queues/{}/dead-letters", queue.as_str());
    let items: Vec<DeadLetterItem> = asker.client.list(&path, &[], usize::MAX).await?;
    print_list(asker, &items, |width| render::lists::dead_letters(&items, width, render::Now::read()))
}

async fn redrive(asker: &Asker<'_>, queue: QueueArg) -> Result<ExitCode> {
    let queue = queue.as_str();
    let request = asker.client.request(Method::POST, &format!("/api/v1/queues/{queue}/redrive"));
    let Redriven { redriven } = asker.client.send(request).await?.json().await?;
    print(&match redriven {
        0 => format!("{queue}: there are no dead letters\n"),
        1 => format!("{queue}: 1 message is sent again\n"),
        many => format!("{queue}: {many} messages are sent again\n"),
    })?;
    Ok(ExitCode::SUCCESS)
}
