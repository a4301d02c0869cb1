//! `generic-hmac`: the same as `generic`, signed: `X-Signature: sha256=<HMAC-SHA256 of the body, in hex>`.
//! <https://fluxcd.io/flux/components/notification/providers/#generic-webhook-with-hmac>

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use yuba_core::notify::{Mend, Undelivered};
use yuba_ports::{HttpAnswer, HttpRequest};

use super::generic::Generic;
use super::{Heard, Outlet, Service};
use crate::notice::Notice;

/// Delivers to any address, signed.
pub(super) struct GenericHmac {
    plain: Generic,
    mac: Hmac<Sha256>,
}

impl GenericHmac {
    pub(super) fn of(outlet: Outlet, key: &SecretString) -> Result<Self, Undelivered> {
        let mac = Hmac::new_from_slice(key.expose_secret().as_bytes());
        let unusable = |_| Undelivered::new(Mend::Settings, "the secret's `token` is no key to sign with");
        Ok(Self { plain: Generic::of(outlet), mac: mac.map_err(unusable)? })
    }
}

impl Service for GenericHmac {
    fn request(&self, notice: &Notice) -> Option<HttpRequest> {
        let mut request = self.plain.request(notice)?;
        let signature = sign(self.mac.clone(), &request.body);
        request.headers.push(("X-Signature".to_owned(), SecretString::from(signature)));
        Some(request)
    }

    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered> {
        self.plain.heard(answer)
    }
}

fn sign(mut mac: Hmac<Sha256>, body: &[u8]) -> String {
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::tests_kit::{event, settings, spec, values};
    use super::*;
    use crate::service;

    #[test]
    fn a_body_is_signed_as_github_signs() {
        // The example of https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
        let mac = Hmac::new_from_slice(b"It's a Secret to Everybody").unwrap();
        assert_eq!(
            sign(mac, b"Hello, World!"),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
    }

    #[test]
    fn the_signature_is_of_the_body_that_is_sent() {
        let values = values(&[("address", "https://h"), ("token", " k \n")]);
        let service = service::of(&settings(), &spec("generic-hmac"), &values).unwrap();
        let request = service.request(&event()).unwrap();
        let (name, signature) = request.headers.last().unwrap();
        assert_eq!(name, "X-Signature");
        assert_eq!(signature.expose_secret(), sign(Hmac::new_from_slice(b"k").unwrap(), &request.body));
        assert!(service::of(&settings(), &spec("generic-hmac"), &super::super::Values::default()).is_err());
    }
}
