//! `Store` on one DynamoDB table.

mod bounds;
mod change;
mod commit;
mod layout;
mod list;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use yuba_core::id::InstallationId;
use yuba_core::record::Key;
use yuba_ports::{Committed, Item, Page, PortError, Query, Store, Write};

use crate::error::port_error;
use crate::settings::{Variables, installation, table};
use layout::{Attributes, Layout};

/// Whose records, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The installation.
    pub installation: InstallationId,
    /// The name of the table.
    pub table: String,
}

impl StoreSettings {
    /// Reads `YUBA_INSTALLATION` and `YUBA_TABLE`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let what = "the installation's id, part of every key, prefix and name";
        let installation = variables.required("YUBA_INSTALLATION", what, installation);
        let table = variables.required("YUBA_TABLE", "the name of the table that records lie in", table);
        Some(Self { installation: installation?, table: table? })
    }
}

/// Records in a DynamoDB table, as [`crate::table`] describes it.
#[derive(Debug, Clone)]
pub struct DynamoStore {
    client: Client,
    table: String,
    layout: Layout,
}

impl DynamoStore {
    /// An installation's records in a table that exists. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: &StoreSettings) -> Self {
        let StoreSettings { installation, table } = settings;
        Self { client: Client::new(config), table: table.clone(), layout: Layout::new(installation) }
    }

    async fn read(&self, key: &Key) -> Result<Option<Attributes>, PortError> {
        let request = self.client.get_item().table_name(&self.table).set_key(Some(self.layout.key(key)));
        match request.consistent_read(true).send().await {
            Ok(answer) => Ok(answer.item),
            Err(error) => Err(port_error(format!("reading record {key}"), error)),
        }
    }
}

#[async_trait]
impl Store for DynamoStore {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        self.read(key).await?.map(|attributes| self.layout.read(&attributes)).transpose()
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        Write::check_all(&writes)?;
        self.commit_all(&writes).await
    }

    async fn query(&self, query: Query) -> Result<Page, PortError> {
        self.page(query).await
    }
}
