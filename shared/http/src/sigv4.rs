//! Signs requests as AWS' services want it (Signature Version 4), so that a service can be spoken to without its SDK.
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

use std::error::Error;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{self, SignableBody, SignableRequest, SigningSettings};
use aws_sigv4::sign::v4;
use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use yuba_ports::{AccessKeys, NoAnswer, Signing};

use crate::client::header;

/// The keys that AWS' own tools take from the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, beside keys that
/// expire, `AWS_SESSION_TOKEN`. AWS Lambda gives its functions those of their role.
pub fn access_keys(mut variable: impl FnMut(&str) -> Option<String>) -> Option<AccessKeys> {
    let mut value = |name| variable(name).filter(|value| !value.is_empty());
    let (id, secret) = (value("AWS_ACCESS_KEY_ID")?, value("AWS_SECRET_ACCESS_KEY")?);
    let session = value("AWS_SESSION_TOKEN").map(SecretString::from);
    Some(AccessKeys { id, secret: secret.into(), session })
}

/// Adds the headers of a signature; it covers address, body, and the headers that are there.
pub(crate) fn sign(
    url: &Url,
    headers: &mut HeaderMap,
    body: &[u8],
    (signing, own): (&Signing, Option<&AccessKeys>),
    now: SystemTime,
) -> Result<(), NoAnswer> {
    let keys = signing.keys.as_ref().or(own).ok_or_else(|| NoAnswer::Refused(NO_KEYS.to_owned()))?;
    let signed = signature(url, headers, body, (signing, keys), now);
    let signed =
        signed.map_err(|error| NoAnswer::Refused(format!("the request cannot be signed: {error}")))?;
    for (name, value) in signed {
        let (name, value) = header(&name, &value)?;
        headers.insert(name, value);
    }
    Ok(())
}

const NO_KEYS: &str = "there are no keys of AWS to sign with: the secret has no `accessKeyId` and `secretAccessKey`, and the environment \
     no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

fn signature(
    url: &Url,
    headers: &HeaderMap,
    body: &[u8],
    (signing, keys): (&Signing, &AccessKeys),
    now: SystemTime,
) -> Result<Vec<(String, String)>, Box<dyn Error + Send + Sync>> {
    let session = keys.session.as_ref().map(|session| session.expose_secret().to_owned());
    let identity = Credentials::new(&keys.id, keys.secret.expose_secret(), session, None, "yuba").into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(&signing.region)
        .name(signing.service)
        .time(now)
        .settings(SigningSettings::default())
        .build()?
        .into();
    let given = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let request = SignableRequest::new("POST", url.as_str(), given, SignableBody::Bytes(body))?;
    let (instructions, _) = http_request::sign(request, &parameters)?.into_parts();
    let (signed, _) = instructions.into_parts();
    Ok(signed.into_iter().map(|header| (header.name().to_owned(), header.value().to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn keys(session: Option<&str>) -> AccessKeys {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into();
        AccessKeys { id: "AKIDEXAMPLE".to_owned(), secret, session: session.map(SecretString::from) }
    }

    fn signed(keys: Option<AccessKeys>, own: Option<&AccessKeys>) -> Result<HeaderMap, NoAnswer> {
        let url = Url::parse("https://example.amazonaws.com/").unwrap();
        let mut headers = HeaderMap::new();
        let at = UNIX_EPOCH + Duration::from_mins(24_015_636);
        let signing = Signing { service: "service", region: "us-east-1".to_owned(), keys };
        sign(&url, &mut headers, b"", (&signing, own), at).map(|()| headers)
    }

    /// Case `post-vanilla` of the suite that AWS published for implementers of Signature Version 4.
    #[test]
    fn the_published_case_is_signed_as_published() {
        let headers = signed(Some(keys(None)), None).unwrap();
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
    }

    #[test]
    fn keys_of_the_request_come_before_those_of_the_process() {
        let own = AccessKeys { id: "OWN".to_owned(), ..keys(Some("session")) };
        let authorization =
            |given| signed(given, Some(&own)).unwrap()["authorization"].to_str().unwrap().to_owned();
        assert!(authorization(Some(keys(None))).contains("Credential=AKIDEXAMPLE/"));
        assert!(authorization(None).contains("Credential=OWN/"));
        assert_eq!(signed(None, Some(&own)).unwrap()["x-amz-security-token"], "session");
        assert_eq!(signed(None, None).unwrap_err(), NoAnswer::Refused(NO_KEYS.to_owned()));
    }

    #[test]
    fn keys_are_taken_from_the_environment_as_a_pair() {
        let set = |names: &'static [&str]| {
            access_keys(move |name| names.contains(&name).then(|| name.to_lowercase()))
        };
        assert!(set(&["AWS_ACCESS_KEY_ID"]).is_none() && set(&["AWS_SECRET_ACCESS_KEY"]).is_none());
        let keys = set(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]).unwrap();
        assert_eq!((keys.id.as_str(), keys.session.is_none()), ("aws_access_key_id", true));
    }
}
