//! Large files go up in parts, each read from the file while it is sent: memory does not grow with the file.

use std::path::Path;

use aws_sdk_s3::operation::create_multipart_upload::CreateMultipartUploadOutput;
use aws_sdk_s3::primitives::{ByteStream, Length};
use aws_sdk_s3::types::{ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart};
use futures_util::{StreamExt, TryStreamExt, stream};
use yuba_ports::{Blobs, PortError, PutMode, PutOutcome};

use super::{S3Blobs, only_new, unusable, written};
use crate::error::port_error;

/// The least size of a part; what is not larger goes up at once.
pub(super) const PART: u64 = 16 * 1024 * 1024;
/// How many parts an upload may have.
const MOST_PARTS: u64 = 10_000;
/// How many parts are on their way at once.
const AT_ONCE: usize = 4;

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// Counts from 1.
    number: i32,
    offset: u64,
    length: u64,
}

/// An upload that was begun.
struct Upload<'a> {
    /// The object's key, for people.
    name: &'a str,
    /// The object's key in the bucket.
    key: String,
    id: String,
    file: &'a Path,
}

impl S3Blobs {
    /// Writes an object from a file of a size. What was sent of an upload that fails is given up.
    pub(super) async fn put_parts(
        &self,
        name: &str,
        (file, size): (&Path, u64),
        mode: PutMode,
    ) -> Result<PutOutcome, PortError> {
        if mode == PutMode::CreateOnly && self.exists(name).await? {
            return Ok(PutOutcome::Exists);
        }
        let key = self.key(name)?;
        let begun = self.begin(name, &key).await?;
        let id = begun.upload_id.unwrap_or_default();
        let upload = Upload { name, key, id, file };
        let outcome = self.send_parts(&upload, size, mode).await;
        if !matches!(outcome, Ok(PutOutcome::Written)) {
            self.give_up(&upload).await;
        }
        outcome
    }

    async fn begin(&self, name: &str, key: &str) -> Result<CreateMultipartUploadOutput, PortError> {
        let request = self
            .client
            .create_multipart_upload()
            .bucket(&self.settings.bucket)
            .key(key)
            .checksum_algorithm(ChecksumAlgorithm::Crc32)
            .set_server_side_encryption(self.encryption())
            .set_ssekms_key_id(self.settings.key.clone())
            .set_bucket_key_enabled(self.settings.key.is_some().then_some(true));
        request.send().await.map_err(|error| port_error(format!("writing object {name}"), error))
    }

    async fn send_parts(
        &self,
        upload: &Upload<'_>,
        size: u64,
        mode: PutMode,
    ) -> Result<PutOutcome, PortError> {
        let parts = stream::iter(parts(size).map(|part| self.send_part(upload, part)));
        let parts: Vec<CompletedPart> = parts.buffered(AT_ONCE).try_collect().await?;
        let request = self
            .client
            .complete_multipart_upload()
            .bucket(&self.settings.bucket)
            .key(&upload.key)
            .upload_id(&upload.id)
            .set_if_none_match(only_new(mode))
            .multipart_upload(CompletedMultipartUpload::builder().set_parts(Some(parts)).build());
        written(upload.name, request.send().await)
    }

    async fn send_part(&self, upload: &Upload<'_>, part: Part) -> Result<CompletedPart, PortError> {
        let body = ByteStream::read_from()
            .path(upload.file)
            .offset(part.offset)
            .length(Length::Exact(part.length))
            .build()
            .await
            .map_err(|error| unusable(upload.name, error))?;
        let request = self
            .client
            .upload_part()
            .bucket(&self.settings.bucket)
            .key(&upload.key)
            .upload_id(&upload.id)
            .part_number(part.number)
            .checksum_algorithm(ChecksumAlgorithm::Crc32)
            .body(body);
        let what = || format!("writing object {}, part {}", upload.name, part.number);
        let sent = request.send().await.map_err(|error| port_error(what(), error))?;
        Ok(CompletedPart::builder()
            .part_number(part.number)
            .set_e_tag(sent.e_tag)
            .set_checksum_crc32(sent.checksum_crc32)
            .build())
    }

    /// Frees what was sent. Where that fails, the bucket's lifecycle does it.
    async fn give_up(&self, upload: &Upload<'_>) {
        let request = self.client.abort_multipart_upload().bucket(&self.settings.bucket);
        if let Err(error) = request.key(&upload.key).upload_id(&upload.id).send().await {
            let error = port_error("giving up an upload", error);
            tracing::warn!(object = upload.name, what = %error.what, "an upload could not be given up");
        }
    }
}

/// The parts of a file of a size: as many as may be, as small as may be.
fn parts(size: u64) -> impl Iterator<Item = Part> {
    let each = size.div_ceil(MOST_PARTS).max(PART);
    (1..)
        .zip((0..size).step_by(usize::try_from(each).unwrap_or(usize::MAX)))
        .map(move |(number, offset)| Part { number, offset, length: each.min(size - offset) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_file_without_gap_or_overlap() {
        for size in [PART + 1, 2 * PART, 5 * PART - 1, MOST_PARTS * PART + 1, 5 << 40] {
            let parts: Vec<Part> = parts(size).collect();
            let mut covered = 0;
            for (number, part) in (1..).zip(&parts) {
                assert_eq!((part.number, part.offset), (number, covered), "size {size}");
                covered += part.length;
            }
            assert_eq!(covered, size);
            assert!(parts.len() <= 10_000 && parts.len() >= 2, "{} parts of {size}", parts.len());
        }
    }
}
