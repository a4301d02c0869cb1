//! Roles become sessions: what STS is asked for, and what people read when it refuses.

use secrecy::ExposeSecret;
use ulid::Ulid;
use yuba_aws::{CredentialsSettings, StsCredentials};
use yuba_core::id::{AttemptId, Phase, RunId, StackName};
use yuba_ports::{Credentials, PortError, Remedy, RoleSession};

use crate::emulator::emulator;
use crate::script::Script;

const ROLE: &str = "arn:aws:iam::111122223333:role/plan";
const ASSUMED: &str = "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>\
    <SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration>\
    </Credentials></AssumeRoleResult></AssumeRoleResponse>";
const CALLER: &str = "<GetCallerIdentityResponse><GetCallerIdentityResult>\
    <Arn>arn:aws:sts::444455556666:assumed-role/yuba-tasks/fn</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>";

fn session(role: Option<&str>) -> RoleSession {
    let attempt = AttemptId { run: RunId(Ulid::from_parts(1, 2)), phase: Phase::Plan, number: 1 };
    let revision = "main@sha1:b8e362c206e3d0cbb7ed22ced771a0056455a2fb".parse().unwrap();
    RoleSession { role: role.map(str::to_owned), stack: StackName::new("prod", "network"), attempt, revision }
}

async fn assume(script: &Script, settings: CredentialsSettings) -> Result<String, PortError> {
    let credentials = StsCredentials::new(&script.config().await, settings);
    let variables = credentials.assume(&session(Some(ROLE))).await?.variables;
    Ok(variables["AWS_ACCESS_KEY_ID"].expose_secret().to_owned())
}

fn refusal(code: &str) -> String {
    format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>not authorized</Message></Error></ErrorResponse>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_becomes_credentials_and_none_becomes_none() {
    let settings =
        CredentialsSettings { external_id: Some("x".to_owned()), ..CredentialsSettings::default() };
    let credentials = StsCredentials::new(&emulator().config().await, settings);
    let assumed = credentials.assume(&session(Some(ROLE))).await.unwrap();
    let names: Vec<&String> = assumed.variables.keys().collect();
    assert_eq!(names, ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]);
    assert!(assumed.expire.is_some(), "STS says when they end");
    assert!(credentials.assume(&session(None)).await.unwrap().variables.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_carries_external_id_tags_and_policy() {
    let script = Script::start(&[(200, ASSUMED)]).await;
    let settings = CredentialsSettings {
        external_id: Some("prod-7f3a".to_owned()),
        policy: Some("{}".to_owned()),
        ..CredentialsSettings::default()
    };
    assert_eq!(assume(&script, settings).await.unwrap(), "ASIA1");
    let asked = &script.asked()[0];
    for part in [
        "Action=AssumeRole&",
        "RoleArn=arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fplan",
        "RoleSessionName=00000000010000000000000002-plan-1%40prod.network",
        "ExternalId=prod-7f3a",
        "Policy=%7B%7D",
        "Tags.member.1.Key=yuba%3Astack&Tags.member.1.Value=prod%2Fnetwork",
        "Tags.member.4.Key=yuba%3Aphase&Tags.member.4.Value=plan",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_begins_with_the_token_and_goes_on_with_the_role_between() {
    let directory = tempfile::tempdir().unwrap();
    let token = directory.path().join("token");
    std::fs::write(&token, "ey.J.x\n").unwrap();
    let with_token = ASSUMED.replace("AssumeRoleRe", "AssumeRoleWithWebIdentityRe").replace("ASIA1", "ASIA0");
    let script = Script::start(&[(200, &with_token), (200, ASSUMED)]).await;
    let settings = CredentialsSettings {
        via: Some("arn:aws:iam::444455556666:role/between".to_owned()),
        token_file: Some(token),
        ..CredentialsSettings::default()
    };
    assert_eq!(assume(&script, settings).await.unwrap(), "ASIA1");
    let asked = script.asked();
    assert!(
        asked[0].contains("Action=AssumeRoleWithWebIdentity&")
            && asked[0].contains("WebIdentityToken=ey.J.x&")
            || asked[0].ends_with("WebIdentityToken=ey.J.x"),
        "{}",
        asked[0]
    );
    assert!(asked[0].contains("role%2Fbetween") && asked[1].contains("role%2Fplan"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_be_assumed_is_named_with_what_would_allow_it() {
    let script = Script::start(&[(403, &refusal("AccessDenied")), (200, CALLER)]).await;
    let error = assume(&script, CredentialsSettings::default()).await.unwrap_err();
    assert_eq!(error.remedy, Remedy::Permanent);
    for part in
        [ROLE, "prod.network", "AccessDenied: not authorized", "arn:aws:iam::444455556666:role/yuba-tasks"]
    {
        assert!(error.what.contains(part), "{part} in {}", error.what);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_throttled_sts_may_be_asked_again() {
    let throttled = refusal("Throttling");
    let script = Script::start(&[(400, throttled.as_str()); 4]).await;
    let error = assume(&script, CredentialsSettings::default()).await.unwrap_err();
    assert_eq!(error.remedy, Remedy::Transient, "{error}");
}
