//! `ObjectGrants` on STS: credentials that reach the objects of one attempt.
//!
//! One role may use the installation's objects. A task gets a session of it that a policy bounds to what the attempt
//! writes and reads.

use std::collections::BTreeMap;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sts::Client;
use serde_json::{Value, json};
use yuba_core::id::InstallationId;
use yuba_core::job::Job;
use yuba_core::task::{BucketAccess, ObjectAccess};
use yuba_ports::{ObjectGrants, PortError};

use crate::BlobsSettings;
use crate::credentials::end_of;
use crate::error::port_error;
use crate::settings::{Variables, role_arn};

/// How long credentials hold. A role that is assumed by another never holds longer.
const SECONDS: i32 = 3600;

/// Where objects are, and who may use them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectGrantsSettings {
    /// The bucket.
    pub blobs: BlobsSettings,
    /// The role that may use the installation's objects.
    pub role: String,
}

impl ObjectGrantsSettings {
    /// Reads `YUBA_BUCKET`, `YUBA_OBJECTS_ROLE` and, if set, `YUBA_KMS_KEY`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let blobs = BlobsSettings::read(variables);
        let role =
            "the role that may use the installation's objects, and of which tasks get bounded sessions";
        let role = variables.required("YUBA_OBJECTS_ROLE", role, role_arn);
        Some(Self { blobs: blobs?, role: role? })
    }
}

/// Credentials of STS for tasks' objects.
#[derive(Debug, Clone)]
pub struct StsObjectGrants {
    client: Client,
    settings: ObjectGrantsSettings,
    region: String,
    endpoint: Option<String>,
    root: String,
}

impl StsObjectGrants {
    /// Grants of an installation's objects. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: ObjectGrantsSettings, installation: &InstallationId) -> Self {
        let region = config.region().map(ToString::to_string).unwrap_or_default();
        let endpoint = config.endpoint_url().map(ToOwned::to_owned);
        Self { client: Client::new(config), settings, region, endpoint, root: format!("{installation}/") }
    }
}

#[async_trait]
impl ObjectGrants for StsObjectGrants {
    async fn grant(&self, job: &Job) -> Result<ObjectAccess, PortError> {
        let (role, attempt) = (&self.settings.role, job.attempt.to_string());
        let what =
            || format!("assuming role {role}, which reaches the installation's objects, for {attempt}");
        let request = self
            .client
            .assume_role()
            .role_arn(role)
            .role_session_name(&attempt)
            .duration_seconds(SECONDS)
            .policy(policy(&self.settings, &self.root, job).to_string());
        let answer = request.send().await.map_err(|error| port_error(what(), error))?;
        let session = answer
            .credentials
            .ok_or_else(|| PortError::transient(format!("{}: STS gave no credentials", what())))?;
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let credentials = BTreeMap::from([
            variable("AWS_ACCESS_KEY_ID", session.access_key_id()),
            variable("AWS_SECRET_ACCESS_KEY", session.secret_access_key()),
            variable("AWS_SESSION_TOKEN", session.session_token()),
        ]);
        let BlobsSettings { bucket, key } = self.settings.blobs.clone();
        let (region, endpoint, root) = (self.region.clone(), self.endpoint.clone(), self.root.clone());
        let expire = end_of(&session);
        Ok(ObjectAccess::Bucket(BucketAccess { bucket, region, endpoint, root, key, credentials, expire }))
    }
}

/// What bounds the session of an attempt.
fn policy(settings: &ObjectGrantsSettings, root: &str, job: &Job) -> Value {
    let ObjectGrantsSettings { blobs, role } = settings;
    let partition = role.split(':').nth(1).unwrap_or("aws");
    let bucket = format!("arn:{partition}:s3:::{}", blobs.bucket);
    let arn = |name: &str| format!("{bucket}/{root}{name}");
    let below = |name: &str| if name.ends_with('/') { arn(&format!("{name}*")) } else { arn(name) };
    let own = job.prefix();
    let mut reads: Vec<String> = job.reads().iter().map(|name| below(name)).collect();
    reads.push(below(&own));
    let mut statements = vec![
        json!({ "Effect": "Allow", "Action": "s3:GetObject", "Resource": reads }),
        json!({ "Effect": "Allow", "Action": ["s3:PutObject", "s3:AbortMultipartUpload"], "Resource": below(&own) }),
        // Without it S3 says of an object that is not there that reading it is denied. It tells names, never contents.
        json!({ "Effect": "Allow", "Action": "s3:ListBucket", "Resource": bucket }),
    ];
    // The role's own rights bound which keys.
    if blobs.key.is_some() {
        let uses = ["kms:Decrypt", "kms:GenerateDataKey"];
        statements.push(json!({ "Effect": "Allow", "Action": uses, "Resource": "*" }));
    }
    json!({ "Version": "2012-10-17", "Statement": statements })
}

#[cfg(test)]
mod tests {
    use yuba_core::attempt::Attempt;

    use super::*;

    #[test]
    fn a_session_writes_below_its_attempt_alone() {
        let stored = include_str!("../../core/tests/golden/attempt.v1.json");
        let job = serde_json::from_str::<Attempt>(stored).unwrap().job;
        let blobs = BlobsSettings { bucket: "objects".to_owned(), key: Some("alias/yuba".to_owned()) };
        let role = "arn:aws-cn:iam::111122223333:role/yuba-objects".to_owned();
        let policy = policy(&ObjectGrantsSettings { blobs, role }, "prod/", &job);
        let own = format!("arn:aws-cn:s3:::objects/prod/{}*", job.prefix());
        assert_eq!(policy["Statement"][1]["Resource"], own);
        assert_eq!(policy["Statement"][1]["Action"], json!(["s3:PutObject", "s3:AbortMultipartUpload"]));
        let reads = policy["Statement"][0]["Resource"].as_array().unwrap();
        assert_eq!(reads.len(), job.reads().len() + 1);
        let code = format!("arn:aws-cn:s3:::objects/prod/artifacts/{}.tar.zst", job.tree);
        assert!(reads.contains(&json!(own)) && reads.contains(&json!(code)), "{reads:?}");
        assert!(policy.to_string().len() < 2048, "STS takes 2048 characters: {policy}");
    }
}
