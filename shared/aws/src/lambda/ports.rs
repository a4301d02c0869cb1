//! Opens the ports that a function uses, and no other: each has a client, and a client costs time at every start.
//!
//! Every function has records, messages, time and ids.

use std::sync::Arc;

use aws_config::SdkConfig;
use secrecy::SecretString;
use yuba_core::capacity::Caps;
use yuba_ports::{
    Blobs, Clock, Credentials, Launcher, PortError, Ports, Publisher, Queue, QueueName, Secrets, Store,
};

use super::clock::{RandomIds, SystemClock};
use super::not_opened::NotOpened;
use super::secret::OwnSecret;
use super::work::Work;
use crate::{
    AwsSecrets, BlobsSettings, CredentialsSettings, DynamoStore, EcsLauncher, LauncherSettings,
    PublisherSettings, QueueSettings, S3Blobs, SecretsSettings, SnsPublisher, SqsQueue, StoreSettings,
    StsCredentials, Variables,
};

/// A port that not every function uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Objects.
    Blobs,
    /// Tasks.
    Launcher,
    /// Caps on tasks, for who starts them, hears of their end or sweeps.
    Caps,
    /// Events.
    Publisher,
    /// Secrets and config maps.
    Secrets,
    /// Roles.
    Credentials,
    /// The installation's key.
    Key,
}

/// The settings of the ports that a function uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortsSettings {
    /// Whose records, and where.
    pub store: StoreSettings,
    queue: QueueSettings,
    blobs: Option<BlobsSettings>,
    launcher: Option<LauncherSettings>,
    caps: Caps,
    publisher: Option<PublisherSettings>,
    secrets: Option<SecretsSettings>,
    credentials: Option<CredentialsSettings>,
    key: Option<OwnSecret>,
}

impl PortsSettings {
    /// Reads the settings of records, messages and these ports; of the key, `YUBA_TASK_KEY`.
    pub fn read(variables: &mut Variables, wanted: &[Port]) -> Option<Self> {
        let wants = |port| wanted.contains(&port);
        let (store, queue) = (StoreSettings::read(variables), QueueSettings::read(variables));
        // What is wrong with one of these is noted, so that `finish` refuses all.
        let key = "the SSM parameter that holds the installation's key, which tokens of tasks are made with";
        Some(Self {
            blobs: wants(Port::Blobs).then(|| BlobsSettings::read(variables)).flatten(),
            launcher: wants(Port::Launcher).then(|| LauncherSettings::read(variables)).flatten(),
            caps: if wants(Port::Caps) { read_caps(variables) } else { Caps::default() },
            publisher: wants(Port::Publisher).then(|| PublisherSettings::read(variables)).flatten(),
            secrets: wants(Port::Secrets).then(|| SecretsSettings::read(variables)).flatten(),
            credentials: wants(Port::Credentials).then(|| CredentialsSettings::read(variables)),
            key: wants(Port::Key).then(|| OwnSecret::read(variables, "YUBA_TASK_KEY", key)).flatten(),
            store: store?,
            queue: queue?,
        })
    }

    /// Opens them. But for the key, which is read, nothing is asked of AWS yet.
    pub async fn open(self, config: &SdkConfig) -> Result<Ports, PortError> {
        let queue = SqsQueue::new(config, self.queue.clone());
        self.open_with(config, queue).await
    }

    /// Opens them for a function that is fed by a queue.
    pub async fn open_for(self, config: &SdkConfig, name: QueueName) -> Result<(Ports, Work), PortError> {
        let queue = SqsQueue::new(config, self.queue.clone());
        let ports = self.open_with(config, queue.clone()).await?;
        Ok((ports, Work { queue, name }))
    }

    async fn open_with(self, config: &SdkConfig, queue: SqsQueue) -> Result<Ports, PortError> {
        let queue: Arc<dyn Queue> = Arc::new(queue);
        let installation = self.store.installation.clone();
        let store: Arc<dyn Store> = Arc::new(DynamoStore::new(config, &self.store));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let key = match &self.key {
            Some(key) => key.get(config).await?,
            // Nobody knows it, so that no token fits.
            None => SecretString::from(hex::encode(rand::random::<[u8; 32]>())),
        };
        let blobs = self.blobs.map(|it| S3Blobs::new(config, it, &installation));
        let launcher = self
            .launcher
            .map(|it| EcsLauncher::new(config, it, &installation, (Arc::clone(&store), Arc::clone(&clock))));
        let listed_and_told = (Arc::clone(&store), Arc::clone(&queue));
        let publisher =
            self.publisher.map(|it| SnsPublisher::new(config, it, &installation, listed_and_told));
        let secrets = self.secrets.map(|it| AwsSecrets::new(config, it));
        let credentials = self.credentials.map(|it| StsCredentials::new(config, it));
        let ports = Ports {
            queue,
            blobs: blobs.map_or_else(|| Arc::new(NotOpened) as Arc<dyn Blobs>, |it| Arc::new(it)),
            launcher: launcher.map_or_else(|| Arc::new(NotOpened) as Arc<dyn Launcher>, |it| Arc::new(it)),
            publisher: publisher.map_or_else(|| Arc::new(NotOpened) as Arc<dyn Publisher>, |it| Arc::new(it)),
            secrets: secrets.map_or_else(|| Arc::new(NotOpened) as Arc<dyn Secrets>, |it| Arc::new(it)),
            credentials: credentials
                .map_or_else(|| Arc::new(NotOpened) as Arc<dyn Credentials>, |it| Arc::new(it)),
            ids: Arc::new(RandomIds::default()),
            installation,
            store,
            clock,
            key,
        };
        Ok(ports.capped(self.caps))
    }
}

/// Reads `YUBA_TASKS_MOST` and `YUBA_TASKS_MOST_PER_LABEL`; what is not set caps nothing.
fn read_caps(variables: &mut Variables) -> Caps {
    let most = "the most tasks that the installation may run at once";
    let per_label =
        "the most tasks that stacks of a label may run at once: <key>=<value>:<number>, with commas between";
    Caps {
        installation: variables.optional("YUBA_TASKS_MOST", most, Caps::read_most),
        labels: variables
            .optional("YUBA_TASKS_MOST_PER_LABEL", per_label, Caps::read_labels)
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(wanted: &[Port]) -> Vec<String> {
        let mut variables = Variables::new([("YUBA_TABLE".to_owned(), "yuba".to_owned())]);
        let settings = PortsSettings::read(&mut variables, wanted);
        let problems = variables.finish(settings).unwrap_err().problems;
        let name = |problem: String| problem.split(' ').next().map(ToOwned::to_owned);
        problems.into_iter().filter_map(name).collect()
    }

    #[test]
    fn caps_are_read_and_wrong_ones_are_named_together() {
        let caps = |most: &str, per_label: &str| {
            let set = [("YUBA_TASKS_MOST", most), ("YUBA_TASKS_MOST_PER_LABEL", per_label)];
            let mut variables = Variables::new(set.map(|(name, value)| (name.to_owned(), value.to_owned())));
            let caps = read_caps(&mut variables);
            variables.finish(Some(caps))
        };
        assert!(caps("", "").unwrap().is_empty());
        assert_eq!(caps("20", "env=prod:5").unwrap().installation, Some(20));
        insta::assert_snapshot!(caps("0", "env=prod").unwrap_err(), @r"
        settings are missing or malformed:
          YUBA_TASKS_MOST is malformed: `0` is not a number from 1 to 100000; the most tasks that the installation may run at once
          YUBA_TASKS_MOST_PER_LABEL is malformed: `env=prod` is not a label with a cap, as in `env=prod:5`; the most tasks that stacks of a label may run at once: <key>=<value>:<number>, with commas between
        ");
    }

    #[test]
    fn a_function_is_asked_for_the_settings_of_its_own_ports() {
        let every = [
            "YUBA_INSTALLATION",
            "YUBA_SOURCES_QUEUE_URL",
            "YUBA_SOURCES_DEAD_QUEUE_URL",
            "YUBA_STACKS_QUEUE_URL",
            "YUBA_STACKS_DEAD_QUEUE_URL",
            "YUBA_NOTICES_QUEUE_URL",
            "YUBA_NOTICES_DEAD_QUEUE_URL",
        ];
        assert_eq!(problems(&[]), every);
        let own = ["YUBA_BUCKET", "YUBA_TOPIC_ARN", "YUBA_TASK_KEY"];
        assert_eq!(problems(&[Port::Key, Port::Blobs, Port::Publisher]), [&every[..], &own].concat());
    }
}
