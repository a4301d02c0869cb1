//! Writing JSON piece by piece: commas and errors are kept track of in one place.

use std::io::{self, BufWriter, Write};

use super::datum::Datum;

/// Writes JSON as it becomes known. The first failed write is remembered, later ones are not tried.
pub(crate) struct JsonWriter<W: Write> {
    out: BufWriter<W>,
    /// For each bracket that is open: whether it holds something already.
    filled: Vec<bool>,
    after_key: bool,
    failed: Option<io::Error>,
}

impl<W: Write> JsonWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out: BufWriter::new(out), filled: Vec::new(), after_key: false, failed: None }
    }

    /// Opens an object or an array.
    pub(crate) fn open(&mut self, bracket: char) {
        self.separate();
        self.filled.push(false);
        self.write(bracket.encode_utf8(&mut [0; 4]));
    }

    /// Closes it.
    pub(crate) fn close(&mut self, bracket: char) {
        self.filled.pop();
        self.write(bracket.encode_utf8(&mut [0; 4]));
    }

    /// Writes the key of an object's next member.
    pub(crate) fn key(&mut self, key: &str) {
        self.separate();
        self.write(&Datum::Text(key.to_owned()).to_string());
        self.write(":");
        self.after_key = true;
    }

    /// Writes a value that is JSON text already.
    pub(crate) fn value(&mut self, json: &str) {
        self.separate();
        self.write(json);
    }

    /// Flushes; gives the first error.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn separate(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        if let Some(filled) = self.filled.last_mut()
            && std::mem::replace(filled, true)
        {
            self.write(",");
        }
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }
}
