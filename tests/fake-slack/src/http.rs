//! As much of HTTP as clients of Slack speak.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path, without a query.
    pub path: String,
    /// Headers by name in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// A header, where one matters: `Retry-After: 1`.
    pub header: Option<String>,
    /// The body.
    pub body: String,
    /// How long it takes to come.
    pub after: Duration,
}

impl Answer {
    /// An answer at once.
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, header: None, body: body.into(), after: Duration::ZERO }
    }

    /// The same with a header line.
    #[must_use]
    pub fn with(self, header: &str) -> Self {
        Self { header: Some(header.to_owned()), ..self }
    }

    /// The same, late.
    #[must_use]
    pub fn late(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Answers one request, and closes the connection.
pub(crate) fn serve(stream: &TcpStream, answer: impl Fn(&Request) -> Answer) -> io::Result<()> {
    let request = read(stream)?;
    let Answer { status, header, body, after } = answer(&request);
    thread::sleep(after);
    let header = header.map(|header| format!("{header}\r\n")).unwrap_or_default();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} As told\r\nContent-Type: application/json\r\n{header}Connection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let path = first.split_whitespace().nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(request)
}
