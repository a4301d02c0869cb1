//! From text to trees.
//!
//! A file is cut at its `---` lines before it is parsed (no scalar can contain such a line), so that one document that
//! is not YAML does not take the others of its file with it. Aliases are resolved under a budget, nesting is bounded:
//! reading takes time and memory proportional to the text.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::finding::Spot;
use super::lines::{self, Lines};
use super::scalar;
use super::yaml::{Document, Entry, Extent, Fault, Node, Tree};

/// How deep lists and mappings may lie in each other.
const MAX_DEPTH: usize = 64;
/// How many nodes the anchors and aliases of one document may copy.
const MAX_COPIES: usize = 100_000;
/// How many MiB of text they may copy.
const MAX_COPIED_MIB: usize = 4;

/// Reads all documents of a file. Empty documents are left out.
pub(super) fn read(text: &str) -> Vec<Document> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    chunks(text).into_iter().flat_map(|(first_line, chunk)| read_chunk(first_line, &chunk)).collect()
}

/// Reads a file that says it is JSON: one document. JSON is YAML, so it is read as that once it is known to be JSON.
pub(super) fn read_json(text: &str) -> Vec<Document> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str::<serde::de::IgnoredAny>(bare) {
        Ok(_) => read_chunk(0, bare),
        Err(error) => {
            let spot = lines::spot_of_byte(bare, error.line(), error.column());
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            let message = format!("not JSON, as the file's name says it is: {what}");
            vec![Document { root: None, faults: vec![Fault { spot, message }], text: bare.to_owned() }]
        }
    }
}

/// The parts between `---` lines, each with the number of the lines before it.
fn chunks(text: &str) -> Vec<(u32, String)> {
    let mut chunks: Vec<(u32, String)> = vec![(0, String::new())];
    for (number, line) in (0_u32..).zip(text.split_inclusive('\n')) {
        let starts = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        let directives_only = chunks.last().is_some_and(|(_, chunk)| holds_directives_only(chunk));
        if starts && !directives_only {
            chunks.push((number, String::new()));
        }
        if let Some((_, chunk)) = chunks.last_mut() {
            chunk.push_str(line);
        }
    }
    chunks
}

/// `%YAML 1.2` and its like belong to the document that the next `---` starts.
fn holds_directives_only(chunk: &str) -> bool {
    chunk.starts_with('%') && chunk.lines().all(|line| line.starts_with(['%', '#']) || line.trim().is_empty())
}

fn read_chunk(lines_before: u32, chunk: &str) -> Vec<Document> {
    let mut builder = Builder::new(lines_before, chunk);
    let mut parser = Parser::new_from_str(chunk);
    while let Some(event) = parser.next_event() {
        let done = match event {
            Ok((Event::StreamEnd, _)) => true,
            Ok((event, span)) => builder.take(event, span.start).is_err(),
            Err(error) => {
                builder.not_yaml(&error);
                true
            }
        };
        if done {
            break;
        }
    }
    builder.documents
}

/// What is being built, innermost last.
enum Frame {
    List { anchor: usize, spot: Spot, items: Vec<Node> },
    Map { anchor: usize, spot: Spot, map: OpenMap },
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<Entry>,
    /// The lines of the keys so far.
    lines: BTreeMap<String, u32>,
    key: Option<(String, Spot)>,
    merged: Vec<Node>,
}

/// The document cannot be read on.
struct Abandoned;

struct Builder<'text> {
    lines_before: u32,
    text: &'text str,
    lines: Lines,
    documents: Vec<Document>,
    frames: Vec<Frame>,
    root: Option<Node>,
    faults: Vec<Fault>,
    anchors: BTreeMap<usize, Node>,
    copies_left: usize,
    bytes_left: usize,
}

impl<'text> Builder<'text> {
    fn new(lines_before: u32, text: &'text str) -> Self {
        Self {
            lines_before,
            text,
            lines: Lines::of(text),
            documents: Vec::new(),
            frames: Vec::new(),
            root: None,
            faults: Vec::new(),
            anchors: BTreeMap::new(),
            copies_left: MAX_COPIES,
            bytes_left: MAX_COPIED_MIB << 20,
        }
    }

    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<(), Abandoned> {
        let spot = self.spot(at);
        match event {
            Event::DocumentEnd => {
                self.finish_document();
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(spot, (&text, style), anchor, tag.as_deref())
            }
            Event::SequenceStart(anchor, _) => {
                self.open(Frame::List { anchor, spot, items: Vec::new() }, spot)
            }
            Event::MappingStart(anchor, _) => {
                self.open(Frame::Map { anchor, spot, map: OpenMap::default() }, spot)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, spot),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => Ok(()),
        }
    }

    fn spot(&self, at: Marker) -> Spot {
        let spot = self.lines.spot(at.index());
        Spot { line: spot.line.saturating_add(self.lines_before), ..spot }
    }

    fn fault(&mut self, spot: Spot, message: impl Into<String>) {
        self.faults.push(Fault { spot, message: message.into() });
    }

    /// Ends the document with a fault that leaves no tree to look at.
    fn abandon(&mut self, spot: Spot, message: &str) -> Result<(), Abandoned> {
        self.fault(spot, message);
        self.root = None;
        self.frames.clear();
        self.finish_document();
        Err(Abandoned)
    }

    fn not_yaml(&mut self, error: &ScanError) {
        let spot = self.spot(*error.marker());
        let hint = if error.info().contains("tab") { "; indent with spaces" } else { "" };
        let message = format!("not YAML: {}{hint}", error.info());
        // The document is abandoned either way.
        let _ = self.abandon(spot, &message);
    }

    fn finish_document(&mut self) {
        let root = self.root.take();
        let faults = std::mem::take(&mut self.faults);
        self.anchors.clear();
        let empty = root.as_ref().is_none_or(|node| matches!(node.tree, Tree::Null));
        if !empty || !faults.is_empty() {
            // Only a document without a tree is guessed at; of the others one text may hold thousands.
            let text = if root.is_none() { self.text.to_owned() } else { String::new() };
            self.documents.push(Document { root, faults, text });
        }
    }

    fn scalar(
        &mut self,
        spot: Spot,
        (text, style): (&str, ScalarStyle),
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Abandoned> {
        if let Some(Frame::Map { map, .. }) = self.frames.last_mut()
            && map.key.is_none()
        {
            map.key = Some((text.to_owned(), spot));
            return Ok(());
        }
        let tree = match (tag, style) {
            (Some(tag), _) => self.tagged(spot, text, tag),
            (None, ScalarStyle::Plain) => scalar::resolve(text),
            (None, _) => Tree::Text(text.to_owned()),
        };
        self.put(Node { spot, tree }, anchor)
    }

    fn tagged(&mut self, spot: Spot, text: &str, tag: &Tag) -> Tree {
        let core = tag.is_yaml_core_schema();
        match tag.suffix.as_str() {
            "str" if core => Tree::Text(text.to_owned()),
            "int" | "float" | "bool" | "null" if core => scalar::resolve(text),
            _ => {
                self.fault(spot, format!("the tag `{tag}` is not supported; write the value without it"));
                Tree::Text(text.to_owned())
            }
        }
    }

    fn open(&mut self, frame: Frame, spot: Spot) -> Result<(), Abandoned> {
        if self.frames.len() >= MAX_DEPTH {
            return self.too_deep(spot);
        }
        if let Some(Frame::Map { map, .. }) = self.frames.last()
            && map.key.is_none()
        {
            return self.abandon(spot, "a key must be a text");
        }
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Abandoned> {
        match self.frames.pop() {
            Some(Frame::List { anchor, spot, items }) => {
                self.put(Node { spot, tree: Tree::List(items) }, anchor)
            }
            Some(Frame::Map { anchor, spot, map }) => {
                let entries = self.with_merged(map)?;
                self.put(Node { spot, tree: Tree::Map(entries) }, anchor)
            }
            None => Ok(()),
        }
    }

    /// Lays what `<<` names under a mapping's own entries.
    fn with_merged(&mut self, map: OpenMap) -> Result<Vec<Entry>, Abandoned> {
        let (mut entries, mut lines) = (map.entries, map.lines);
        let sources = map.merged.into_iter().flat_map(|node| match node.tree {
            Tree::List(items) => items,
            tree => vec![Node { spot: node.spot, tree }],
        });
        for source in sources {
            let Tree::Map(merged) = source.tree else {
                self.abandon(source.spot, "`<<` must name a mapping or a list of mappings")?;
                continue;
            };
            entries.extend(
                merged
                    .into_iter()
                    .filter(|entry| lines.insert(entry.key.clone(), entry.key_spot.line).is_none()),
            );
        }
        Ok(entries)
    }

    fn alias(&mut self, anchor: usize, spot: Spot) -> Result<(), Abandoned> {
        let Some(node) = self.anchors.get(&anchor) else {
            return self.abandon(spot, "the alias stands inside its own anchor");
        };
        let node = node.clone();
        self.spend(&node, spot)?;
        if self.frames.len() + node.extent().depth > MAX_DEPTH {
            return self.too_deep(spot);
        }
        if let Some(Frame::Map { map, .. }) = self.frames.last_mut()
            && map.key.is_none()
        {
            let Tree::Text(key) = node.tree else { return self.abandon(spot, "a key must be a text") };
            map.key = Some((key, spot));
            return Ok(());
        }
        self.put(node, 0)
    }

    /// Takes a copy out of the document's budget.
    fn spend(&mut self, copied: &Node, spot: Spot) -> Result<(), Abandoned> {
        let Extent { values, bytes, .. } = copied.extent();
        let Some(copies_left) = self.copies_left.checked_sub(values) else {
            return self.abandon(spot, &format!("anchors and aliases make more than {MAX_COPIES} values"));
        };
        let Some(bytes_left) = self.bytes_left.checked_sub(bytes) else {
            let message = format!("anchors and aliases copy more than {MAX_COPIED_MIB} MiB of text");
            return self.abandon(spot, &message);
        };
        (self.copies_left, self.bytes_left) = (copies_left, bytes_left);
        Ok(())
    }

    fn too_deep(&mut self, spot: Spot) -> Result<(), Abandoned> {
        self.abandon(spot, &format!("nested deeper than {MAX_DEPTH} levels"))
    }

    /// Lays a finished value where it belongs: in the innermost list or mapping, or as the document's root.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Abandoned> {
        if anchor > 0 {
            self.spend(&node, node.spot)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.frames.last_mut() {
            None => self.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { map, .. }) => {
                if let Some(fault) = map.put(node) {
                    self.faults.push(fault);
                }
            }
        }
        Ok(())
    }
}

impl OpenMap {
    /// Puts a value under the key that was read before it; the first of two equal keys stays.
    fn put(&mut self, value: Node) -> Option<Fault> {
        let (key, key_spot) = self.key.take()?;
        if key == "<<" {
            self.merged.push(value);
            return None;
        }
        if let Some(first) = self.lines.get(&key) {
            let message = format!("`{key}` is given twice; it stands at line {first} already");
            return Some(Fault { spot: key_spot, message });
        }
        self.lines.insert(key.clone(), key_spot.line);
        self.entries.push(Entry { key, key_spot, value });
        None
    }
}
