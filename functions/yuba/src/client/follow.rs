//! Following a run: its log on standard output, its progress on standard error, until it ends or waits for somebody.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Method, Response};
use yuba_api::wire::{ProgressView, RunDetail, RunItem};

use super::ask::Asker;
use super::http::encode;
use super::{print, tell};
use crate::done::Unwritable;
use crate::render::{self, Now};

/// How often a lost connection is made again without anything having come.
const MOST_RECONNECTIONS: u32 = 10;

/// How a run that was followed came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// It ended well, or waits for somebody.
    Ended,
    /// It found drift.
    Drifted,
    /// It failed.
    Failed,
}

/// The end of a run that was followed, or what it waits for.
#[derive(Debug)]
pub(crate) struct End {
    /// Its id.
    pub(crate) run: String,
    /// The word of its state.
    pub(crate) state: String,
    /// How it came out.
    pub(crate) how: Followed,
}

/// Follows a run; where `until_it_waits`, only until somebody must decide.
pub(crate) async fn follow(asker: &Asker<'_>, run: &str, until_it_waits: bool) -> Result<End> {
    let log = if asker.is_for_people() { Log::Printed } else { Log::Told };
    let mut follower = Follower { last: None, started: Instant::now(), until_it_waits, log };
    let mut lost = 0;
    loop {
        match follower.connection(asker, run).await {
            Ok(Some(item)) => return ended(asker, &item).await,
            Ok(None) => lost = 0,
            Err(error) if lost >= MOST_RECONNECTIONS || error.is::<Unwritable>() => return Err(error),
            Err(_) => lost += 1,
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Says how it ended; a failed run with its error and the end of its log.
async fn ended(asker: &Asker<'_>, item: &RunItem) -> Result<End> {
    let run: RunDetail = asker.client.get(&format!("/api/v1/runs/{}", item.id), &[]).await?;
    tell(&render::run::ending(&run, Now::read()));
    let how = match item.state.as_str() {
        "failed" | "denied" => Followed::Failed,
        "drifted" => Followed::Drifted,
        _ => Followed::Ended,
    };
    Ok(End { run: item.id.clone(), state: item.state.clone(), how })
}

struct Follower {
    last: Option<String>,
    started: Instant,
    until_it_waits: bool,
    log: Log,
}

/// Where the log goes.
#[derive(Debug, Clone, Copy)]
enum Log {
    /// To standard output: somebody reads it.
    Printed,
    /// To standard error: standard output is one document.
    Told,
}

impl Follower {
    /// Follows over one connection; the run where it need be followed no more.
    async fn connection(&mut self, asker: &Asker<'_>, run: &str) -> Result<Option<RunItem>> {
        let mut request =
            asker.client.request(Method::GET, &format!("/api/v1/runs/{}/log/stream", encode(run)));
        if let Some(last) = &self.last {
            request = request.header("Last-Event-ID", last);
        }
        let mut response = asker.client.send(request).await?;
        let mut frames = Frames::default();
        while let Some(frame) = frames.next(&mut response).await? {
            if let Some(item) = self.hear(&frame)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn hear(&mut self, frame: &Frame) -> Result<Option<RunItem>> {
        match frame.event.as_str() {
            "log" => {
                let piece: String = serde_json::from_str(&frame.data).context("a piece of the log")?;
                match self.log {
                    Log::Printed => print(&piece)?,
                    Log::Told => tell(piece.trim_end_matches('\n')),
                }
                self.last = frame.id.clone().or(self.last.take());
            }
            "progress" => {
                let progress: ProgressView = serde_json::from_str(&frame.data).context("progress")?;
                tell(&render::run::progress(&progress, self.started.elapsed()));
            }
            "state" | "end" => {
                let item: RunItem = serde_json::from_str(&frame.data).context("a run")?;
                let waits = self.until_it_waits && item.state.starts_with("awaiting-");
                return Ok((waits || frame.event == "end").then_some(item));
            }
            _ => {}
        }
        Ok(None)
    }
}

/// One server-sent event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Frame {
    event: String,
    id: Option<String>,
    data: String,
}

/// Splits a response into server-sent events.
#[derive(Default)]
struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    async fn next(&mut self, response: &mut Response) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take() {
                return Ok(Some(frame));
            }
            match response.chunk().await.context("the connection was lost")? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None if self.buffer.is_empty() => return Ok(None),
                None => bail!("the connection was lost"),
            }
        }
    }

    fn take(&mut self) -> Option<Frame> {
        let end = self.buffer.windows(2).position(|pair| pair == b"\n\n")?;
        let text: Vec<u8> = self.buffer.drain(..end + 2).collect();
        let mut frame = Frame::default();
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((field, value)) = line.split_once(':') else { continue };
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut frame.event),
                "id" => frame.id = Some(value.to_owned()),
                "data" => frame.data.push_str(value),
                _ => {}
            }
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_whole_and_comments_are_left() {
        let mut frames =
            Frames { buffer: b":\n\nevent: log\nid: 0:000001\ndata: \"a\\n\"\n\nevent: e".to_vec() };
        assert_eq!(frames.take(), Some(Frame::default()));
        let log =
            Frame { event: "log".to_owned(), id: Some("0:000001".to_owned()), data: "\"a\\n\"".to_owned() };
        assert_eq!(frames.take(), Some(log));
        assert_eq!(frames.take(), None);
    }
}
