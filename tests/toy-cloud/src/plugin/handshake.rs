//! How a plugin begins and ends: <https://github.com/hashicorp/go-plugin/blob/main/docs/internals.md>. tofu starts
//! the process with a cookie and its certificate in the environment; the process prints where it listens and its
//! own certificate. It ends when tofu says so, or when tofu is gone.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};

use super::dispatch::{Controller, Plugin, Provider};

const COOKIE: &str = "TF_PLUGIN_MAGIC_COOKIE";
const CLIENT_CERTIFICATE: &str = "PLUGIN_CLIENT_CERT";
/// How soon it is noticed that tofu is gone.
const PARENT_CHECK: Duration = Duration::from_millis(250);
const DRAIN_CHECK: Duration = Duration::from_millis(10);
/// How long the answer to `Shutdown` may take to go out.
const LAST_WORDS: Duration = Duration::from_millis(5);

#[derive(Debug, Error)]
enum ServeError {
    #[error("this is a plugin of tofu and terraform, which start it for a provider requirement")]
    NoPlugin,
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot serve")]
    Transport(#[from] tonic::transport::Error),
    #[error("cannot listen")]
    Io(#[from] io::Error),
}

/// Serves a provider until tofu ends it.
pub(crate) async fn serve<P: Plugin>(plugin: P) -> ExitCode {
    match run(plugin).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let chain = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let _ = writeln!(io::stderr(), "{error}{}", chain.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

async fn run<P: Plugin>(plugin: P) -> Result<(), ServeError> {
    variable(COOKIE).ok_or(ServeError::NoPlugin)?;
    // A terminal interrupts the whole process group; tofu alone decides what that means, and says `StopProvider`.
    let mut interrupts = signal(SignalKind::interrupt())?;
    let provider = Provider { plugin: Arc::new(plugin), in_flight: Arc::default() };
    let controller = Controller { shutdown: Arc::new(Notify::new()) };
    let shutdown = controller.shutdown.clone();
    let (plugin, in_flight) = (provider.plugin.clone(), provider.in_flight.clone());
    let (mut builder, certificate) = encrypted()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = builder.add_service(provider).add_service(controller).serve_with_incoming(incoming);
    writeln!(io::stdout(), "1|6|tcp|{address}|grpc|{certificate}")?;
    let swallow = async { while interrupts.recv().await.is_some() {} };
    tokio::select! {
        ended = serving => ended?,
        () = shutdown.notified() => tokio::time::sleep(LAST_WORDS).await,
        () = orphaned(&*plugin, &in_flight) => {}
        () = swallow => {}
    }
    Ok(())
}

/// Ends when tofu is gone and the calls in flight have ended.
async fn orphaned<P: Plugin>(plugin: &P, in_flight: &AtomicUsize) {
    let parent = rustix::process::getppid();
    while rustix::process::getppid() == parent {
        tokio::time::sleep(PARENT_CHECK).await;
    }
    plugin.interrupt();
    while in_flight.load(Ordering::SeqCst) > 0 {
        tokio::time::sleep(DRAIN_CHECK).await;
    }
}

/// The server, and its certificate as the handshake has it: empty without TLS. tofu's own certificate is not
/// asked for: rustls refuses it, being a CA's, and the files of a toy need no guard.
fn encrypted() -> Result<(Server, String), ServeError> {
    if variable(CLIENT_CERTIFICATE).is_none() {
        return Ok((Server::builder(), String::new()));
    }
    let key = rcgen::KeyPair::generate()?;
    let certificate = rcgen::CertificateParams::new(["localhost".to_owned()])?.self_signed(&key)?;
    let identity = Identity::from_pem(certificate.pem(), key.serialize_pem());
    let tls = ServerTlsConfig::new().identity(identity);
    Ok((Server::builder().tls_config(tls)?, STANDARD_NO_PAD.encode(certificate.der())))
}

#[expect(clippy::disallowed_methods, reason = "read once, before anything else")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
