//! `Blobs` on S3. S3 shows an object whole or not at all; a conditional write makes one of many creators win.

mod multipart;

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::operation::head_object::HeadObjectError;
use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::ServerSideEncryption;
use tokio::io::AsyncWriteExt;
use yuba_core::id::InstallationId;
use yuba_core::task::BucketAccess;
use yuba_ports::{Blobs, PortError, PutMode, PutOutcome, check_key};

use crate::connect::{retries, timeouts};
use crate::error::port_error;
use crate::settings::{Variables, bucket, key_id};

/// How many keys S3 lists at once.
const MOST_KEYS: usize = 1000;

/// Where objects are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobsSettings {
    /// The bucket.
    pub bucket: String,
    /// The KMS key that objects are encrypted under: id, ARN or alias. `None` leaves it to the bucket.
    pub key: Option<String>,
}

impl BlobsSettings {
    /// Reads `YUBA_BUCKET` and, if set, `YUBA_KMS_KEY`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let bucket = variables.required("YUBA_BUCKET", "the name of the bucket that objects lie in", bucket);
        let key = variables.optional("YUBA_KMS_KEY", "the KMS key that Yuba encrypts under", key_id);
        Some(Self { bucket: bucket?, key })
    }
}

/// Objects in an S3 bucket, below the installation's id.
#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    settings: BlobsSettings,
    root: String,
}

impl S3Blobs {
    /// An installation's objects in a bucket that exists. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: BlobsSettings, installation: &InstallationId) -> Self {
        // With a bucket's name in the path, one certificate and one address serve all buckets.
        let config = aws_sdk_s3::config::Builder::from(config).force_path_style(true).build();
        Self { client: Client::from_conf(config), settings, root: format!("{installation}/") }
    }

    /// The objects that a task was let reach. Nothing is asked of AWS yet.
    pub fn of_access(access: &BucketAccess) -> Self {
        let credential = |name: &str| access.credentials.get(name).cloned();
        let keys = Credentials::new(
            credential("AWS_ACCESS_KEY_ID").unwrap_or_default(),
            credential("AWS_SECRET_ACCESS_KEY").unwrap_or_default(),
            credential("AWS_SESSION_TOKEN"),
            None,
            "yuba",
        );
        let mut config = aws_sdk_s3::config::Builder::new()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(access.region.clone()))
            .credentials_provider(keys)
            .timeout_config(timeouts())
            .retry_config(retries())
            .force_path_style(true);
        config.set_endpoint_url(access.endpoint.clone());
        let settings = BlobsSettings { bucket: access.bucket.clone(), key: access.key.clone() };
        Self { client: Client::from_conf(config.build()), settings, root: access.root.clone() }
    }

    fn key(&self, key: &str) -> Result<String, PortError> {
        check_key(key)?;
        Ok(format!("{}{key}", self.root))
    }

    fn encryption(&self) -> Option<ServerSideEncryption> {
        self.settings.key.is_some().then_some(ServerSideEncryption::AwsKms)
    }

    async fn put_body(&self, key: &str, body: ByteStream, mode: PutMode) -> Result<PutOutcome, PortError> {
        let request = self
            .client
            .put_object()
            .bucket(&self.settings.bucket)
            .key(self.key(key)?)
            .set_server_side_encryption(self.encryption())
            .set_ssekms_key_id(self.settings.key.clone())
            .set_bucket_key_enabled(self.settings.key.is_some().then_some(true))
            .set_if_none_match(only_new(mode))
            .body(body);
        written(key, request.send().await)
    }

    async fn open(&self, key: &str) -> Result<Option<GetObjectOutput>, PortError> {
        let request = self.client.get_object().bucket(&self.settings.bucket).key(self.key(key)?);
        match request.send().await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.code() == Some("NoSuchKey") => Ok(None),
            Err(error) => Err(port_error(format!("reading object {key}"), error)),
        }
    }

    async fn list_some(
        &self,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<ListObjectsV2Output, PortError> {
        let root = &self.root;
        let request = self
            .client
            .list_objects_v2()
            .bucket(&self.settings.bucket)
            .prefix(format!("{root}{prefix}"))
            .set_start_after(after.map(|after| format!("{root}{after}")))
            .max_keys(i32::try_from(most.min(MOST_KEYS)).unwrap_or(i32::MAX));
        request.send().await.map_err(|error| port_error(format!("listing objects below `{prefix}`"), error))
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError> {
        self.put_body(key, ByteStream::from(bytes.to_vec()), mode).await
    }

    async fn put_file(&self, key: &str, file: &Path, mode: PutMode) -> Result<PutOutcome, PortError> {
        let size = tokio::fs::metadata(file).await.map_err(|error| unusable(key, error))?.len();
        if size > multipart::PART {
            return self.put_parts(key, (file, size), mode).await;
        }
        let body = ByteStream::from_path(file).await.map_err(|error| unusable(key, error))?;
        self.put_body(key, body, mode).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError> {
        let Some(object) = self.open(key).await? else { return Ok(None) };
        let bytes = object.body.collect().await.map_err(|error| broken_off(key, error))?;
        Ok(Some(bytes.to_vec()))
    }

    async fn get_file(&self, key: &str, file: &Path) -> Result<bool, PortError> {
        let Some(mut object) = self.open(key).await? else { return Ok(false) };
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = tokio::fs::OpenOptions::from(options).open(file).await;
        let mut file = file.map_err(|error| unusable(key, error))?;
        while let Some(bytes) = object.body.next().await {
            let bytes = bytes.map_err(|error| broken_off(key, error))?;
            file.write_all(&bytes).await.map_err(|error| unusable(key, error))?;
        }
        file.flush().await.map_err(|error| unusable(key, error))?;
        Ok(true)
    }

    async fn exists(&self, key: &str) -> Result<bool, PortError> {
        let request = self.client.head_object().bucket(&self.settings.bucket).key(self.key(key)?);
        match request.send().await {
            Ok(_) => Ok(true),
            Err(error) if error.as_service_error().is_some_and(HeadObjectError::is_not_found) => Ok(false),
            Err(error) => Err(port_error(format!("looking for object {key}"), error)),
        }
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let mut keys: Vec<String> = Vec::new();
        while keys.len() < limit {
            let after = keys.last().map(String::as_str).or(after);
            let answer = self.list_some(prefix, after, limit - keys.len()).await?;
            let own = |key: &str| key.strip_prefix(&self.root).map(str::to_owned);
            keys.extend(answer.contents().iter().filter_map(|object| own(object.key()?)));
            if answer.is_truncated() != Some(true) {
                break;
            }
        }
        Ok(keys)
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        let request = self.client.delete_object().bucket(&self.settings.bucket).key(self.key(key)?);
        let deleted = request.send().await;
        deleted.map(drop).map_err(|error| port_error(format!("deleting object {key}"), error))
    }
}

/// The condition under which an object is written.
fn only_new(mode: PutMode) -> Option<String> {
    match mode {
        PutMode::Replace => None,
        PutMode::CreateOnly => Some("*".to_owned()),
    }
}

/// What became of a write, by its answer: a condition that does not hold is no error.
fn written<T, E>(key: &str, answer: Result<T, SdkError<E>>) -> Result<PutOutcome, PortError>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match answer {
        Ok(_) => Ok(PutOutcome::Written),
        Err(error) if error.code() == Some("PreconditionFailed") => Ok(PutOutcome::Exists),
        Err(error) => Err(port_error(format!("writing object {key}"), error)),
    }
}

fn unusable(key: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PortError {
    PortError::transient(format!("object {key}: the file could not be used")).because(error)
}

fn broken_off(key: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PortError {
    PortError::transient(format!("reading object {key}: the answer broke off")).because(error)
}
