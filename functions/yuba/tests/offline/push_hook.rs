//! `yuba hook post-receive`, called as Git calls it, against the real webhook router.

use std::fs::File;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use yuba_core::id::{ManifestSetName, SourceName};
use yuba_core::source::Source;
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::time::Span;
use yuba_ports::Store as _;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::put_any;
use yuba_webhook::{Webhook, WebhookSettings, router};

use crate::kit::Folder;

const URL: &str = "https://git.example.com/infra.git";

/// A server that knows one source, and where it listens.
struct Server {
    _runtime: Runtime,
    address: String,
}

impl Server {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let world = MemoryWorld::new();
        let listener = runtime.block_on(async {
            world.store.commit(vec![put_any(&source()).unwrap()]).await.unwrap();
            TcpListener::bind("127.0.0.1:0").await.unwrap()
        });
        let address = format!("http://{}", listener.local_addr().unwrap());
        let settings =
            WebhookSettings { generic: vec!["it is a secret".into()], ..WebhookSettings::default() };
        let app = router(Webhook::new(world.ports(), settings));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { _runtime: runtime, address }
    }
}

fn push(folder: &Folder, server: &str, secret: &str, reference: &str) -> String {
    folder.write("secret", secret);
    folder.write("stdin", &format!("{} {} {reference}\n", "0".repeat(40), "1".repeat(40)));
    let stdin = File::open(folder.path().join("stdin")).unwrap();
    let arguments =
        ["hook", "post-receive", "--server", server, "--secret-file", "secret", "--repository", URL];
    let said = folder.yuba_with(&arguments, |command| {
        command.stdin(stdin);
    });
    said.replace(server, "SERVER")
}

#[test]
fn a_push_wakes_the_source() {
    let (folder, server) = (Folder::new(), Server::start());
    let said = push(&folder, &server.address, "it is a secret\n", "refs/heads/main");
    insta::assert_snapshot!(said, @"yuba: refs/heads/main: infra/code will look for it");
    let said = push(&folder, &server.address, "it is a secret\n", "refs/heads/other");
    insta::assert_snapshot!(said, @"yuba: refs/heads/other: nothing to do: no source of this repository follows refs/heads/other");
}

#[test]
fn a_wrong_secret_is_refused() {
    let (folder, server) = (Folder::new(), Server::start());
    let said = push(&folder, &server.address, "guessed", "refs/heads/main");
    insta::assert_snapshot!(said, @"
    yuba: refs/heads/main: refused by SERVER (401 Unauthorized): the signature in x-yuba-signature does not fit the body: the secret differs, or the body was changed on its way
    exit code 1
    ");
}

#[test]
fn a_server_that_is_away_loses_nothing() {
    let folder = Folder::new();
    // A port that was free a moment ago, and that nobody listens on.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    insta::assert_snapshot!(push(&folder, &format!("http://{address}"), "x", "refs/heads/main"), @"
    yuba: refs/heads/main: SERVER is away (Connection refused (os error 111)); the push is found when the source is polled
    exit code 1
    ");
    assert!(push(&folder, "http://127.0.0.1:1", " \n", "refs/heads/main").contains("secret is empty"));
}

fn source() -> Source {
    let spec = SourceSpec {
        url: URL.to_owned(),
        reference: GitReference::Branch("main".to_owned()),
        interval: Span::minutes(1),
        secret: None,
        suspend: false,
    };
    Source {
        name: SourceName::new("infra", "code"),
        spec,
        set: ManifestSetName("flux".to_owned()),
        observation: 0,
        seen: None,
        definitions: 0,
        definitions_seen: 0,
        failure: None,
        due: None,
        vanished: None,
    }
}
