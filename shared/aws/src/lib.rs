#![doc = include_str!("../README.md")]

mod blobs;
mod connect;
mod credentials;
mod dead_letters;
mod error;
#[cfg(feature = "lambda")]
pub mod lambda;
mod launcher;
mod objects;
mod publisher;
mod queue;
mod secrets;
mod settings;
mod store;
pub mod table;
mod trace;

pub use blobs::{BlobsSettings, S3Blobs};
pub use connect::{connect, loader};
pub use credentials::{CredentialsSettings, StsCredentials};
pub use launcher::{EcsLauncher, LauncherSettings, PlanCapacity, PublicIp};
pub use objects::{ObjectGrantsSettings, StsObjectGrants};
pub use publisher::{PublisherSettings, SnsPublisher};
pub use queue::{QueueSettings, QueueUrls, SqsQueue};
pub use secrets::{AwsSecrets, SecretsSettings};
pub use settings::{SettingsError, Variables};
pub use store::{DynamoStore, StoreSettings};
