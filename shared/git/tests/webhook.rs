//! Signatures against known answers, and every recorded delivery.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails the test")]

use std::fs;
use std::path::PathBuf;

use http::{HeaderMap, HeaderValue};
use secrecy::SecretString;
use serde_json::Value;
use yuba_git::webhook::{Notice, ParseError, Push, RefChange, Scheme, Unverified, Verified, parse, verify};

fn fixtures(folder: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures").join(folder);
    assert!(path.is_dir(), "{} is missing: lay `shared/` beside the clone", path.display());
    path
}

fn json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| ((*name).try_into().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

/// A body signed with the right secret.
fn signed(scheme: Scheme, body: &[u8]) -> Verified<&[u8]> {
    use hmac::{KeyInit, Mac};
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(b"s3cret").unwrap();
    mac.update(body);
    let digits = hex::encode(mac.finalize().into_bytes());
    let header = match scheme {
        Scheme::GitHub => headers(&[("x-hub-signature-256", &format!("sha256={digits}"))]),
        Scheme::Gitea => headers(&[("x-gitea-signature", &digits)]),
        Scheme::Generic => headers(&[("x-yuba-signature", &format!("sha256={digits}"))]),
    };
    verify(scheme, &header, body, &[SecretString::from("s3cret")]).unwrap()
}

fn parse_github(event: &str, body: &[u8]) -> Result<Notice, ParseError> {
    parse(&headers(&[("x-github-event", event), ("x-github-delivery", "d-1")]), &signed(Scheme::GitHub, body))
}

fn pushed(event: &str, body: &[u8]) -> Push {
    match parse_github(event, body).unwrap() {
        Notice::Push(push) => push,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_known_answer_is_right_or_of_another_scheme() {
    let directory = fixtures("signatures");
    let vectors = json(&directory.join("vectors.json"));
    let mut accepted = 0;
    for vector in vectors.as_array().unwrap() {
        let body = match vector["body"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => fs::read(directory.join(vector["body_file"].as_str().unwrap())).unwrap(),
        };
        let (vendor, header) = vector["scheme"].as_str().unwrap().split_once(' ').unwrap();
        let header = if vendor == "slack" { "X-Slack-Signature" } else { header };
        let scheme = if vendor == "gitea" { Scheme::Gitea } else { Scheme::GitHub };
        let name = http::HeaderName::from_bytes(header.to_ascii_lowercase().as_bytes()).unwrap();
        let mut map = HeaderMap::new();
        map.insert(name, HeaderValue::from_str(vector["expected"].as_str().unwrap()).unwrap());
        let secrets = [SecretString::from(vector["secret"].as_str().unwrap())];
        match header {
            "X-Hub-Signature-256" | "X-Gitea-Signature" => {
                verify(scheme, &map, &body, &secrets).unwrap();
                let mut altered = body.clone();
                altered.push(b' ');
                assert!(matches!(verify(scheme, &map, &altered, &secrets), Err(Unverified::Wrong { .. })));
                accepted += 1;
            }
            _ => {
                assert!(matches!(verify(scheme, &map, &body, &secrets), Err(Unverified::OtherScheme { .. })));
            }
        }
    }
    assert_eq!(accepted, 9, "GitHub's own vector and eight of Gitea");
}

#[test]
fn what_is_not_signed_rightly_is_refused_with_a_reason() {
    let case = |pairs: &[(&'static str, &str)], secrets: &[&str]| {
        let secrets: Vec<_> = secrets.iter().map(|secret| SecretString::from(*secret)).collect();
        verify(Scheme::GitHub, &headers(pairs), b"{}", &secrets).unwrap_err().to_string()
    };
    let zeros = format!("sha256={}", "0".repeat(64));
    let cases = [
        case(&[], &["s"]),
        case(&[("x-hub-signature", "sha1=00")], &["s"]),
        case(&[("x-hub-signature-256", "sha256=zz")], &["s"]),
        case(&[("x-hub-signature-256", &zeros)], &["s"]),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r"
    the request has no signature: header x-hub-signature-256 is missing; set the webhook's secret at the sender
    header x-hub-signature is not a signature of this endpoint's scheme, which is x-hub-signature-256 with HMAC-SHA256
    header x-hub-signature-256 is not of the form `sha256=<64 hex digits>`
    the signature in x-hub-signature-256 does not fit the body: the secret differs, or the body was changed on its way
    ");
}

#[test]
fn an_empty_secret_fits_nothing() {
    use hmac::{KeyInit, Mac};
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(b"").unwrap();
    mac.update(b"{}");
    let right = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    let map = headers(&[("x-hub-signature-256", &right)]);
    assert!(verify(Scheme::GitHub, &map, b"{}", &[SecretString::from("")]).is_err());
}

#[test]
fn either_secret_is_right_while_one_replaces_the_other() {
    let body = b"Hello, World!";
    let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let map = headers(&[("x-hub-signature-256", right)]);
    let secrets = ["It's a Secret to Everybody", "new"].map(SecretString::from);
    assert!(verify(Scheme::GitHub, &map, body, &secrets).is_ok());
    assert!(verify(Scheme::GitHub, &map, body, &secrets[1..]).is_err());
    assert!(verify(Scheme::GitHub, &map, body, &[]).is_err());
}

#[test]
fn every_recorded_delivery_is_a_fact_or_ignored_with_a_reason_or_a_clear_error() {
    let directory = fixtures("webhooks");
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for entry in json(&directory.join("MANIFEST.json")).as_array().unwrap() {
        let body = fs::read(directory.join(entry["file"].as_str().unwrap())).unwrap();
        let event = entry["event_header"].as_str().unwrap();
        let outcome = match parse_github(event, &body) {
            Ok(Notice::Push(_)) => "push".to_owned(),
            Ok(Notice::Ping { .. }) => "ping".to_owned(),
            Ok(Notice::Ignored { reason, .. }) => format!("ignored: {reason}"),
            Err(error) => format!("error: {error}"),
        };
        *seen.entry(outcome).or_default() += 1;
        for cut in [0, 1, body.len() / 2, body.trim_ascii_end().len() - 1] {
            let error = parse_github(event, &body[..cut]).unwrap_err();
            assert_eq!(error, ParseError::CutOff { offset: cut }, "{}", entry["file"]);
        }
    }
    let seen: Vec<String> = seen.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    insta::assert_snapshot!(seen.join("\n"), @r"
    3 ignored: a branch or tag that appears or vanishes also comes as a push
    59 ignored: it moves no reference; only push events wake sources
    4 ignored: merge queues and checks are not acted on yet
    17 ignored: pull requests are not acted on yet
    6 ignored: which repositories are watched stands in the manifests
    2 ping
    7 push
    ");
}

#[test]
fn a_push_says_which_reference_of_which_repository_moved() {
    let read = |file: &str| pushed("push", &fs::read(fixtures("webhooks").join(file)).unwrap());
    let created = read("W005-push.octokit.with-no-username-committer.payload.json");
    for url in
        ["https://github.com/Codertocat/Hello-World.git", "ssh://git@github.com/codertocat/hello-world"]
    {
        assert!(created.repositories.include(url), "{url}");
    }
    assert!(!created.repositories.include("https://github.com/Codertocat/Hello"));
    assert_eq!((created.change, created.before.clone()), (RefChange::Created, None));
    assert_eq!(created.reference.as_deref(), Some("refs/heads/master"));
    assert_eq!(created.pusher.as_deref(), Some("Codertocat"));
    assert_eq!(created.delivery.0, "d-1");
    let head = created.head_commit.unwrap();
    assert_eq!((head.subject.as_str(), Some(head.id)), ("Initial commit", created.after));
    let deleted = read("W001-push.octokit.payload.json");
    assert_eq!((deleted.change, deleted.after), (RefChange::Deleted, None));
}

#[test]
fn the_generic_endpoint_takes_what_a_hook_can_easily_send() {
    let read = |body: &str| match parse(&HeaderMap::new(), &signed(Scheme::Generic, body.as_bytes())).unwrap()
    {
        Notice::Push(push) => push,
        other => panic!("{other:?}"),
    };
    let full = read(r#"{"url": "ssh://git@h/x.git", "ref": "refs/heads/main"}"#);
    assert!(full.repositories.include("git@h:x") && !full.repositories.include("git@h:y"));
    assert_eq!(full.reference.as_deref(), Some("refs/heads/main"));
    for any in ["", "{}", r#"{"other": 1}"#] {
        assert!(read(any).repositories.include("https://anything/at/all"), "{any}");
    }
    let flux = headers(&[("x-signature", "sha256=00")]);
    let refused = verify(Scheme::Generic, &flux, b"", &[SecretString::from("s")]);
    assert!(matches!(refused, Err(Unverified::Malformed { header: "x-signature", .. })));
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    let cases = [
        parse_github("push", b"payload=%7B%7D").unwrap_err().to_string(),
        parse_github("push", b"{\n\"ref\": 1}").unwrap_err().to_string(),
        parse_github("push", b"{}").unwrap_err().to_string(),
        parse_github("push", b"{\n]").unwrap_err().to_string(),
        parse(&HeaderMap::new(), &signed(Scheme::GitHub, b"{}")).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r"
    the body is a form; set the webhook's content type to `application/json`
    the body is not a push event: invalid type: integer `1`, expected a string at byte 9
    the body is not a push event: missing field `ref` at byte 1
    the body is not JSON at byte 2: key must be a string
    header x-github-event is missing: it names the event
    ");
}
