//! `audit list`, `export` and `verify`: who let what happen, and whether that is what was written down.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use yuba_api::wire::List;
use yuba_core::audit::{AuditEntry, AuditLine, Verified, Verifier};
use yuba_core::id::AuditHash;

use super::args::Audit;
use super::ask::Asker;
use super::get::print_list;
use super::options::Output;
use super::print;
use crate::render;

/// Does what a verb about the audit trail says.
pub(crate) async fn run(asker: &Asker<'_>, audit: Audit) -> Result<ExitCode> {
    match audit {
        Audit::List { stack, limit } => list(asker, stack.as_deref(), limit).await,
        Audit::Export { file } => export(asker, &file).await,
        Audit::Verify { file, anchor } => verify(asker, file.as_deref(), anchor).await,
    }
}

async fn list(asker: &Asker<'_>, stack: Option<&str>, limit: usize) -> Result<ExitCode> {
    const PATH: &str = "/api/v1/audit/entries";
    let namespace = asker.options.namespace.as_deref();
    let mut items: Vec<(AuditEntry, Value)> = match stack {
        Some(stack) => {
            let query = [("stack", asker.name(stack).await?), ("newest", "true".to_owned())];
            read(asker.client.list(PATH, &query, limit).await?)?
        }
        None => read(asker.client.list(PATH, &[], usize::MAX).await?)?,
    };
    items.retain(|(entry, _)| {
        let of = entry.deed.stack.as_ref().map(|name| name.namespace.as_str());
        stack.is_some() || namespace.is_none() || of == namespace
    });
    items.sort_by_key(|(entry, _)| std::cmp::Reverse((entry.deed.at, entry.chain, entry.number)));
    items.truncate(limit);
    let (entries, bodies): (Vec<AuditEntry>, Vec<Value>) = items.into_iter().unzip();
    print_list(asker, &bodies, |width| render::lists::audit(&entries, width))
}

fn read(bodies: Vec<Value>) -> Result<Vec<(AuditEntry, Value)>> {
    let entry = |body: Value| Ok((serde_json::from_value(body.clone())?, body));
    let entries: Result<_, serde_json::Error> = bodies.into_iter().map(entry).collect();
    entries.context("an entry cannot be read; `yuba --version` on both sides may differ")
}

/// Writes the whole trail into a file; one that was there is replaced once all is written.
async fn export(asker: &Asker<'_>, file: &Path) -> Result<ExitCode> {
    if file == Path::new("-") {
        each_line(asker, |line| Ok(print(&format!("{}\n", serde_json::to_string(&line)?))?)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let unwritable = || format!("{} cannot be written", file.display());
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let mut lines = 0_usize;
    let mut writer = BufWriter::new(File::create(&partial).with_context(unwritable)?);
    each_line(asker, |line| {
        lines += 1;
        writeln!(writer, "{}", serde_json::to_string(&line)?).with_context(unwritable)
    })
    .await?;
    let written =
        writer.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(unwritable)?;
    written.sync_all().with_context(unwritable)?;
    std::fs::rename(&partial, file).with_context(unwritable)?;
    print(&format!("{}: {lines} lines; `yuba audit verify` checks them\n", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the whole trail of a server. Anchors and heads are read first: what is written meanwhile is then in the entries
/// at least.
async fn each_line(asker: &Asker<'_>, mut take: impl FnMut(AuditLine) -> Result<()>) -> Result<()> {
    for what in ["anchors", "heads", "entries"] {
        let path = format!("/api/v1/audit/{what}");
        let mut query: Vec<(&str, String)> = Vec::new();
        loop {
            let page: List<Value> = asker.client.get(&path, &query).await?;
            page.items.into_iter().try_for_each(|body| take(line(what, body)?))?;
            match page.next {
                Some(next) => query = vec![("cursor", next)],
                None => break,
            }
        }
    }
    Ok(())
}

fn line(what: &str, body: Value) -> Result<AuditLine> {
    Ok(match what {
        "anchors" => AuditLine::Anchor(body),
        "heads" => AuditLine::Head(serde_json::from_value(body).context("a head cannot be read")?),
        _ => AuditLine::Entry(body),
    })
}

async fn verify(asker: &Asker<'_>, file: Option<&Path>, anchor: Option<AuditHash>) -> Result<ExitCode> {
    let mut trail = Verifier::default();
    match file {
        Some(file) => {
            let lines = BufReader::new(File::open(file).with_context(|| file.display().to_string())?).lines();
            for (number, line) in (1_usize..).zip(lines) {
                let place = || format!("{}:{number}", file.display());
                let line = serde_json::from_str(&line.with_context(place)?)
                    .with_context(|| format!("{} is no line of an export", place()))?;
                trail.take(line).with_context(place)?;
            }
        }
        None => each_line(asker, |line| Ok(trail.take(line)?)).await?,
    }
    let whole = trail.finish()?;
    if let Some(anchor) = anchor.filter(|anchor| !whole.anchors.contains(anchor)) {
        bail!(
            "no anchor has the hash {anchor}: the trail is not the one that it was taken of, or ends before it"
        );
    }
    said(asker, &whole)
}

fn said(asker: &Asker<'_>, whole: &Verified) -> Result<ExitCode> {
    let Verified { entries, chains, anchors } = whole;
    let newest = anchors.last().map(ToString::to_string);
    let value = json!({
        "entries": entries, "chains": chains, "anchors": anchors.len(), "newestAnchor": newest,
    });
    print(&match asker.options.output {
        Output::Json => format!("{value:#}\n"),
        Output::Yaml => render::yaml::write(&value),
        Output::Table | Output::Wide => {
            let anchors = anchors.len();
            let kept = newest.map_or_else(String::new, |hash| format!("\nThe newest anchor is {hash}"));
            format!("Whole. Entries: {entries}, chains: {chains}, anchors: {anchors}.{kept}\n")
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
