//! What is particular to objects in S3.

use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};
use yuba_aws::{BlobsSettings, S3Blobs};
use yuba_ports::{Blobs, PutMode, PutOutcome};

use crate::emulator::{emulator, fresh_installation, fresh_name};
use crate::script::Script;

/// Creates a bucket.
pub(crate) async fn create_bucket(config: &SdkConfig, name: &str) {
    let place = BucketLocationConstraint::EuCentral1;
    let place = CreateBucketConfiguration::builder().location_constraint(place).build();
    client(config).create_bucket().bucket(name).create_bucket_configuration(place).send().await.unwrap();
}

fn client(config: &SdkConfig) -> Client {
    Client::from_conf(aws_sdk_s3::config::Builder::from(config).force_path_style(true).build())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_goes_up_in_parts_and_is_created_once() {
    let (config, bucket, directory) = (emulator().config().await, fresh_name(), tempfile::tempdir().unwrap());
    create_bucket(&config, &bucket).await;
    let settings = BlobsSettings { bucket: bucket.clone(), key: None };
    let blobs = S3Blobs::new(&config, settings, &fresh_installation());
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    let content: Vec<u8> = (0..9_000_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&from, &content).unwrap();
    assert_eq!(blobs.put_file("big", &from, PutMode::CreateOnly).await.unwrap(), PutOutcome::Written);
    assert_eq!(blobs.put_file("big", &from, PutMode::CreateOnly).await.unwrap(), PutOutcome::Exists);
    assert!(blobs.get_file("big", &to).await.unwrap());
    assert!(std::fs::read(&to).unwrap() == content);
    let tag =
        client(&config).list_objects_v2().bucket(&bucket).send().await.unwrap().contents()[0].e_tag.clone();
    assert!(tag.unwrap().contains("-3"), "the object was made of three parts");
    let left = client(&config).list_multipart_uploads().bucket(&bucket).send().await.unwrap();
    assert!(left.uploads().is_empty(), "no upload is left unfinished");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_fails_is_given_up() {
    let begun = "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>";
    let script = Script::start(&[(200, begun), (204, "")]).await;
    let settings = BlobsSettings { bucket: "bucket".to_owned(), key: None };
    let blobs = S3Blobs::new(&script.config().await, settings, &fresh_installation());
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(20_000_000).unwrap();
    // The script takes no parts: they are larger than what it reads.
    assert!(blobs.put_file("big", file.path(), PutMode::Replace).await.is_err());
    let lines = script.lines();
    assert!(
        lines.len() == 2 && lines[1].starts_with("DELETE ") && lines[1].contains("uploadId=u1"),
        "{lines:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_encrypted_under_the_key_of_the_settings() {
    let (config, bucket, installation) = (emulator().config().await, fresh_name(), fresh_installation());
    create_bucket(&config, &bucket).await;
    let settings = BlobsSettings { bucket: bucket.clone(), key: Some("alias/yuba".to_owned()) };
    let blobs = S3Blobs::new(&config, settings, &installation);
    blobs.put("plan", b"secret", PutMode::Replace).await.unwrap();
    let stored = client(&config).head_object().bucket(&bucket).key(format!("{installation}/plan"));
    let stored = stored.send().await.unwrap();
    assert_eq!(stored.server_side_encryption.unwrap().as_str(), "aws:kms");
    assert!(stored.ssekms_key_id.unwrap().contains("alias/yuba"));
}
