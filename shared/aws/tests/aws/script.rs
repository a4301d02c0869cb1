//! A service that answers as a test says, and keeps what it was asked: for answers that the emulator never gives.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aws_config::{Region, SdkConfig};
use aws_sdk_dynamodb::config::Credentials;
use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use tokio::net::{TcpListener, TcpStream};

/// A service with answers that are given in order.
#[derive(Clone)]
pub(crate) struct Script {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    answers: VecDeque<(u16, String)>,
    asked: Vec<String>,
    lines: Vec<String>,
}

impl Script {
    /// Starts it on a port of its own.
    pub(crate) async fn start(answers: &[(u16, &str)]) -> Self {
        let answers = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let inner = Arc::new(Mutex::new(Inner { answers, asked: Vec::new(), lines: Vec::new() }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(inner.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, inner }
    }

    /// How to reach it. What is refused for a passing reason is not asked again.
    pub(crate) async fn config(&self) -> SdkConfig {
        config_of(self.address).await
    }

    /// The bodies of all requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.inner.lock().unwrap().asked.clone()
    }

    /// Methods and paths of all requests.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.inner.lock().unwrap().lines.clone()
    }
}

async fn answer(
    State(inner): State<Arc<Mutex<Inner>>>,
    method: Method,
    uri: Uri,
    body: String,
) -> (StatusCode, String) {
    let mut inner = inner.lock().unwrap();
    inner.asked.push(body);
    inner.lines.push(format!("{method} {uri}"));
    let (status, body) =
        inner.answers.pop_front().unwrap_or((400, r#"{"__type":"NotInTheScript"}"#.to_owned()));
    (StatusCode::from_u16(status).unwrap(), body)
}

/// How to reach a service at an address.
pub(crate) async fn config_of(address: SocketAddr) -> SdkConfig {
    yuba_aws::loader()
        .endpoint_url(format!("http://{address}"))
        .region(Region::new("eu-central-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "tests"))
        .load()
        .await
}

/// Stands before a service; of the first `lost` connections the request goes through, and the answer is lost.
pub(crate) async fn losing(service: SocketAddr, lost: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut count = 0;
        while let Ok((client, _)) = listener.accept().await {
            count += 1;
            tokio::spawn(pass(client, service, count <= lost));
        }
    });
    address
}

async fn pass(mut client: TcpStream, service: SocketAddr, is_lost: bool) {
    let mut service = TcpStream::connect(service).await.unwrap();
    if !is_lost {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut service).await;
        return;
    }
    let (mut from_client, _) = client.split();
    let (from_service, mut to_service) = service.split();
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_service) => {}
        _ = from_service.readable() => {}
    }
}
