//! Git over smart HTTP: one thread, `git http-backend` behind CGI, optional authentication, optional TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A Git server on 127.0.0.1; it stops when it is dropped.
#[derive(Debug)]
pub struct GitServer {
    address: SocketAddr,
    scheme: &'static str,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How a server is asked.
struct Terms {
    root: PathBuf,
    authorization: Option<String>,
    tls: Option<Arc<ServerConfig>>,
}

impl GitServer {
    /// Serves the repositories below `root`; with `authorization`, only to requests that carry that header.
    pub fn start(root: &Path, authorization: Option<&str>) -> Self {
        Self::serve(Terms {
            root: root.to_owned(),
            authorization: authorization.map(str::to_owned),
            tls: None,
        })
    }

    /// The same over TLS, with the certificate in PEM that it shows and that nobody vouches for.
    pub fn start_tls(root: &Path, authorization: &str) -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a test's host works");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a test's host works");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("a test's host works");
        let tls = versions
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a test's host works");
        let (authorization, tls) = (Some(authorization.to_owned()), Some(Arc::new(tls)));
        (Self::serve(Terms { root: root.to_owned(), authorization, tls }), made.cert.pem())
    }

    fn serve(terms: Terms) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a test's host works");
        let address = listener.local_addr().expect("a test's host works");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let scheme = if terms.tls.is_some() { "https" } else { "http" };
        let thread = thread::spawn(move || {
            let requests = listener.incoming().take_while(|_| !stopped.load(Ordering::SeqCst));
            requests.for_each(|stream| terms.meet(stream.expect("a test's host works")));
        });
        Self { address, scheme, stop, thread: Some(thread) }
    }

    /// The URL of a path below it.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/{path}", self.scheme, self.address)
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("a test's host works");
        }
    }
}

struct Request {
    method: String,
    path: PathBuf,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Terms {
    fn meet(&self, stream: TcpStream) {
        let Some(tls) = &self.tls else { return answer(stream, &self.root, self.authorization.as_deref()) };
        let mut secured =
            StreamOwned::new(ServerConnection::new(Arc::clone(tls)).expect("a test's host works"), stream);
        answer(&mut secured, &self.root, self.authorization.as_deref());
        secured.conn.send_close_notify();
        // Whoever does not trust the certificate has gone already.
        let _ = secured.flush();
    }
}

fn answer(mut stream: impl Read + Write, root: &Path, authorization: Option<&str>) {
    let Some(request) = read(&mut BufReader::new(&mut stream)) else { return };
    if authorization.is_some() && request.header("authorization") != authorization {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n\
                       Content-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(refusal.as_bytes()).expect("a test's host works");
        return;
    }
    let response = backend(&request, root);
    let text = String::from_utf8_lossy(&response);
    let status = text.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    stream
        .write_all(format!("HTTP/1.1 {status}\r\nConnection: close\r\n").as_bytes())
        .expect("a test's host works");
    stream.write_all(&response).expect("a test's host works");
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((key, value)) = line.trim().split_once(": ") else { break };
        headers.push((key.to_owned(), value.to_owned()));
    }
    let path = PathBuf::from(path.replace("%20", " ").replace("%c3%bc", "ü").replace("%C3%BC", "ü"));
    let mut request = Request { method, path, query: query.to_owned(), headers, body: Vec::new() };
    if let Some(length) = request.header("content-length") {
        request.body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut request.body).ok()?;
    }
    Some(request)
}

#[expect(clippy::disallowed_methods, reason = "real git, in a test")]
fn backend(request: &Request, root: &Path) -> Vec<u8> {
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", request.header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", request.header("git-protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a test's host works");
    child.stdin.take().expect("a test's host works").write_all(&request.body).expect("a test's host works");
    child.wait_with_output().expect("a test's host works").stdout
}
