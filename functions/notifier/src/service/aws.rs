//! What the services on AWS share: the ARN of where messages go, and the keys that requests are signed with.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use yuba_core::cloud_event::CloudEvent;
use yuba_core::notify::{Mend, ProviderSpec, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{AccessKeys, HttpRequest, Signing};

use super::{Values, lacks, timeout};
use crate::notice::{Notice, Told};
use crate::settings::NotifierSettings;

/// A topic or a bus, and how it is reached.
pub(super) struct Target {
    /// Its ARN.
    pub(super) arn: String,
    address: SecretString,
    signing: Signing,
    timeout: Span,
}

impl Target {
    /// The target that the provider's address names, of this service (as ARNs and signatures name it).
    pub(super) fn of(
        settings: &NotifierSettings,
        (spec, values): (&ProviderSpec, &Values),
        service: &'static str,
        example: &str,
    ) -> Result<Self, Undelivered> {
        let given = values.get("address").map(|address| address.expose_secret().to_owned());
        let arn = given.or_else(|| spec.address.clone());
        let arn = arn.ok_or_else(|| lacks(spec, "address", "the ARN of where messages go"))?;
        let (partition, region) = place(&arn, service).ok_or_else(|| {
            let why = format!("the address `{arn}` is no ARN such as {example}");
            Undelivered::new(Mend::Settings, why)
        })?;
        let domain = if partition == "aws-cn" { "amazonaws.com.cn" } else { "amazonaws.com" };
        let own = || format!("https://{service}.{region}.{domain}/");
        let address = SecretString::from(settings.aws_endpoint.clone().unwrap_or_else(own));
        let signing = Signing { service, region: region.to_owned(), keys: keys(spec, values)? };
        Ok(Self { address, signing, timeout: timeout(spec), arn })
    }

    /// A request with this body and these headers.
    pub(super) fn post(&self, headers: &[(&str, &str)], body: Vec<u8>) -> HttpRequest {
        let header = |(name, value): &(&str, &str)| ((*name).to_owned(), SecretString::from(*value));
        HttpRequest {
            url: self.address.clone(),
            headers: headers.iter().map(header).collect(),
            body,
            timeout: self.timeout,
            signing: Some(self.signing.clone()),
        }
    }
}

/// What is told, as CloudEvents 1.0 has it; `None` for what no event tells.
pub(super) fn cloud_event(notice: &Notice) -> Option<Value> {
    match notice {
        Notice::Event(told) => {
            let Told { event, installation, .. } = &**told;
            Some(json!(CloudEvent::of(format!("/yuba/{installation}"), event)))
        }
        Notice::Test { id, by } => Some(json!({
            "specversion": "1.0",
            "id": id,
            "source": "/yuba",
            "type": TEST,
            "time": by.at.to_string(),
            "datacontenttype": "application/json",
            "data": { "message": super::words::test(by) },
        })),
        Notice::Run(_) => None,
    }
}

/// The type of what somebody sends to try a provider.
pub(super) const TEST: &str = "dev.yuba.provider.test";

/// Partition and region of a service's ARN: `arn:aws:sns:eu-central-1:123456789012:alerts`.
fn place<'a>(arn: &'a str, service: &str) -> Option<(&'a str, &'a str)> {
    let parts: Vec<&str> = arn.trim().splitn(6, ':').collect();
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match parts[..] {
        ["arn", partition, named, region, account, resource]
            if named == service
                && is_name(partition)
                && is_name(region)
                && is_name(account)
                && !resource.is_empty() =>
        {
            Some((partition, region))
        }
        _ => None,
    }
}

/// The secret's keys, both or none.
fn keys(spec: &ProviderSpec, values: &Values) -> Result<Option<AccessKeys>, Undelivered> {
    let session = values.get("sessionToken");
    match (values.get("accessKeyId"), values.get("secretAccessKey")) {
        (None, None) => Ok(None),
        (Some(id), Some(secret)) => {
            Ok(Some(AccessKeys { id: id.expose_secret().to_owned(), secret, session }))
        }
        (Some(_), None) => Err(lacks(spec, "secretAccessKey", "the key that `accessKeyId` names")),
        (None, Some(_)) => Err(lacks(spec, "accessKeyId", "which names the key `secretAccessKey`")),
    }
}

/// What a code of an error of AWS' says may mend it.
pub(super) fn mend(code: &str) -> Mend {
    let says = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if says(&["Throttl", "InternalFailure", "InternalError", "ServiceUnavailable", "KMSThrottling"]) {
        return Mend::Time;
    }
    // Keys, rights, and whether what is named is there.
    let settings = ["Auth", "AccessDenied", "NotFound", "NotExist", "Token", "Signature", "Disabled", "KMS"];
    if says(&settings) { Mend::Settings } else { Mend::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_of_the_service_says_where_it_is() {
        assert_eq!(
            place("arn:aws-cn:sns:cn-north-1:123456789012:alerts.fifo", "sns"),
            Some(("aws-cn", "cn-north-1"))
        );
        for wrong in [
            "https://sns.eu-central-1.amazonaws.com/",
            "arn:aws:sqs:eu-central-1:123456789012:alerts",
            "arn:aws:sns::123456789012:alerts",
            "arn:aws:sns:eu-central-1:123456789012:",
            "arn:aws:sns:evil.example/x:123456789012:alerts",
        ] {
            assert_eq!(place(wrong, "sns"), None, "{wrong}");
        }
    }
}
