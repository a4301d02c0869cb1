//! Requests over real sockets.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use secrecy::SecretString;
use yuba_core::time::Span;
use yuba_http::{PrivateAddresses, WebClient};
use yuba_ports::{Http, HttpAnswer, HttpRequest, NoAnswer};

/// A server that gives one answer; where it is, and the thread that comes back with what it was sent.
fn server(answer: String) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut sent, mut chunk) = (String::new(), [0; 4096]);
        while !sent.ends_with("the end") {
            let length = stream.read(&mut chunk).unwrap();
            sent.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
        }
        // A client that has read enough may hang up.
        let _ = stream.write_all(answer.as_bytes());
        sent
    });
    (address, served)
}

fn request(url: &str) -> HttpRequest {
    HttpRequest {
        url: SecretString::from(url),
        headers: vec![("authorization".to_owned(), SecretString::from("Bearer x"))],
        body: b"to the end".to_vec(),
        timeout: Span::seconds(20),
        signing: None,
    }
}

async fn post(url: &str, private: PrivateAddresses) -> Result<HttpAnswer, NoAnswer> {
    WebClient::new(private).unwrap().post(&request(url)).await
}

#[tokio::test]
async fn a_body_is_posted_with_its_headers_and_a_redirect_is_an_answer() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno";
    let (address, served) = server(answer.to_owned());
    let heard = post(&format!("http://{address}/in"), PrivateAddresses::Allowed).await.unwrap();
    let retry_after = Some(Span::seconds(7));
    assert_eq!(heard, HttpAnswer { status: 302, retry_after, body: b"no".to_vec() });
    let sent = served.join().unwrap();
    assert!(sent.starts_with("POST /in HTTP/1.1\r\n"), "{sent}");
    assert!(
        sent.contains("authorization: Bearer x\r\n") && sent.contains("content-type: application/json"),
        "{sent}"
    );
}

#[tokio::test]
async fn no_more_of_an_answer_is_read_than_tells_what_happened() {
    let long = "x".repeat(200_000);
    let (address, _) = server(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{long}", long.len()));
    let heard = post(&format!("http://{address}/"), PrivateAddresses::Allowed).await.unwrap();
    assert_eq!(heard.body.len(), 64 * 1024);
}

#[tokio::test]
async fn private_addresses_are_refused_by_number_and_by_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"] {
        let refused = post(&format!("http://{host}:{port}/secret"), PrivateAddresses::Refused).await;
        let Err(NoAnswer::Refused(why)) = refused else { panic!("{host}: {refused:?}") };
        assert!(why.contains("lies in a private network") && !why.contains("secret"), "{why}");
    }
    assert!(listener.accept().is_err(), "nobody came");
}

#[tokio::test]
async fn what_is_no_address_is_refused_and_nobody_there_may_mend_itself() {
    for url in ["nonsense", "file:///etc/passwd", "ftp://h/", "https://"] {
        assert!(matches!(post(url, PrivateAddresses::Allowed).await, Err(NoAnswer::Refused(_))), "{url}");
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = post(&format!("http://127.0.0.1:{port}/secret"), PrivateAddresses::Allowed).await;
    let Err(NoAnswer::Unreachable(why)) = nobody else { panic!("{nobody:?}") };
    assert!(why.starts_with("127.0.0.1 cannot be reached: ") && !why.contains("secret"), "{why}");
}

#[tokio::test]
async fn who_does_not_answer_in_time_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let request = HttpRequest { timeout: Span(300), ..request(&url) };
    let late = WebClient::new(PrivateAddresses::Allowed).unwrap().post(&request).await;
    assert_eq!(late, Err(NoAnswer::Unreachable("127.0.0.1 did not answer in time".to_owned())));
}

#[test]
fn a_request_shows_neither_its_address_nor_its_headers() {
    assert_eq!(format!("{:?}", request("https://h/secret")), "HttpRequest { bytes: 10, .. }");
}
