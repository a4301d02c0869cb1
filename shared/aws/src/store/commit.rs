//! Commits: an update where one record is put under a condition, a transaction where there is more to it, or less: what
//! has no condition would be carried out twice where an answer is lost.
//!
//! Every item carries the id of the commit that wrote it last. Where an answer was lost, the item itself tells whether
//! the commit took place: nobody else writes that id.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use yuba_core::record::Key;
use yuba_ports::{Committed, PortError, Remedy, Write};

use super::DynamoStore;
use super::change::{Action, Change, change};
use super::layout::is_written_by;
use crate::error::port_error;

/// How often a commit is tried while another one works on the same items.
const TRIES: u32 = 8;
/// The longest wait before the second try; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// What became of one try.
enum Tried {
    Settled(Committed),
    /// Another commit is at work on the same items; nobody has lost yet.
    Busy(Key),
}

/// Why a transaction was cancelled, by the codes of its writes. What is greater matters less.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cancelled {
    /// A write's condition does not hold.
    Conflict,
    /// A write can never be carried out.
    Wrong,
    /// Another commit is at work on a write's item.
    Busy,
    /// The table takes no more writes now.
    Throttled,
    /// No write says why.
    Unexplained,
}

/// Writes that are committed together.
struct Commit {
    /// Written into every item.
    id: String,
    changes: Vec<Change>,
}

impl DynamoStore {
    /// Commits writes that were checked.
    pub(super) async fn commit_all(&self, writes: &[Write]) -> Result<Committed, PortError> {
        let id = hex::encode(rand::random::<[u8; 16]>());
        let changes = writes.iter().filter_map(|write| change(&self.layout, write, &id).transpose());
        let commit = Commit { changes: changes.collect::<Result<_, _>>()?, id };
        let (mut number, mut wait) = (1, FIRST_WAIT);
        loop {
            match self.try_commit(&commit, number).await? {
                Tried::Settled(committed) => return Ok(committed),
                Tried::Busy(key) if number == TRIES => {
                    return Err(PortError::transient(format!("record {key} is written by too many at once")));
                }
                Tried::Busy(_) => tokio::time::sleep(wait.mul_f64(rand::random())).await,
            }
            (number, wait) = (number + 1, wait * 2);
        }
    }

    async fn try_commit(&self, commit: &Commit, number: u32) -> Result<Tried, PortError> {
        let tried = match commit.changes.as_slice() {
            [] => return Ok(Tried::Settled(Committed::Done)),
            [put @ Change { action: Action::Update(update), condition: Some(_), .. }] => {
                self.update(put, update, &commit.id).await
            }
            _ => self.transact(commit, number).await,
        };
        match tried {
            Err(error) if error.remedy == Remedy::Transient => self.settle(commit, error).await,
            tried => tried,
        }
    }

    /// What became of a commit whose answer was lost: the items tell. Where they do not, the error stands; the caller
    /// then reads the records again, and so would have to in any case.
    async fn settle(&self, commit: &Commit, error: PortError) -> Result<Tried, PortError> {
        let is_put = |change: &&Change| matches!(change.action, Action::Update(_));
        let Some(put) = commit.changes.iter().find(is_put) else { return Err(error) };
        match self.read(&put.record).await {
            Ok(Some(item)) if is_written_by(&item, &commit.id) => Ok(Tried::Settled(Committed::Done)),
            _ => Err(error),
        }
    }

    async fn update(&self, change: &Change, update: &str, id: &str) -> Result<Tried, PortError> {
        let request = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(change.key.clone()))
            .update_expression(update)
            .set_condition_expression(change.condition.clone())
            .set_expression_attribute_names(some(&change.names))
            .set_expression_attribute_values(some(&change.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let Err(error) = request.send().await else { return Ok(Tried::Settled(Committed::Done)) };
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                let own = failed.item().is_some_and(|item| is_written_by(item, id));
                let conflict = Committed::Conflict(change.record.clone());
                Ok(Tried::Settled(if own { Committed::Done } else { conflict }))
            }
            Some(UpdateItemError::TransactionConflictException(_)) => Ok(Tried::Busy(change.record.clone())),
            _ => Err(port_error(format!("writing record {}", change.record), error)),
        }
    }

    /// The token makes the tries of one request one; after a refusal it names another request.
    async fn transact(&self, commit: &Commit, number: u32) -> Result<Tried, PortError> {
        let items = commit.changes.iter().map(|change| self.transact_item(change));
        let items = items.collect::<Result<_, _>>()?;
        let request = self.client.transact_write_items().set_transact_items(Some(items));
        match request.client_request_token(format!("{}-{number}", commit.id)).send().await {
            Ok(_) => Ok(Tried::Settled(Committed::Done)),
            Err(error) => cancelled(&commit.changes, error),
        }
    }

    fn transact_item(&self, change: &Change) -> Result<TransactWriteItem, PortError> {
        let (key, condition) = (Some(change.key.clone()), change.condition.clone());
        let (names, values) = (some(&change.names), some(&change.values));
        let item = TransactWriteItem::builder();
        let built = match &change.action {
            Action::Update(update) => Update::builder()
                .table_name(&self.table)
                .set_key(key)
                .update_expression(update)
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|update| item.update(update)),
            Action::Delete => Delete::builder()
                .table_name(&self.table)
                .set_key(key)
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|delete| item.delete(delete)),
            Action::Check => ConditionCheck::builder()
                .table_name(&self.table)
                .set_key(key)
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|check| item.condition_check(check)),
        };
        let unbuilt = |error| PortError::permanent("a write could not be built").because(error);
        Ok(built.map_err(unbuilt)?.build())
    }
}

/// DynamoDB refuses a map that is there and empty.
fn some<K: Clone, V: Clone, S: Clone>(
    map: &std::collections::HashMap<K, V, S>,
) -> Option<std::collections::HashMap<K, V, S>> {
    (!map.is_empty()).then(|| map.clone())
}

fn cancelled(changes: &[Change], error: SdkError<TransactWriteItemsError>) -> Result<Tried, PortError> {
    let what = || format!("writing {} records together", changes.len());
    let Some(TransactWriteItemsError::TransactionCanceledException(reasons)) = error.as_service_error()
    else {
        return Err(port_error(what(), error));
    };
    let reasons = reasons.cancellation_reasons();
    let codes: Vec<&str> = reasons.iter().map(|reason| reason.code().unwrap_or("None")).collect();
    let (why, at) = why_cancelled(&codes);
    let Some(record) = changes.get(at).map(|change| change.record.clone()) else {
        return Err(port_error(what(), error));
    };
    match why {
        Cancelled::Conflict => Ok(Tried::Settled(Committed::Conflict(record))),
        Cancelled::Busy => Ok(Tried::Busy(record)),
        Cancelled::Throttled => Err(PortError::transient(format!("{}: the table is throttled", what()))),
        Cancelled::Wrong => {
            let why = reasons.get(at).and_then(|reason| reason.message()).unwrap_or("no reason was given");
            Err(PortError::permanent(format!("{}, of them record {record}: {why}", what())))
        }
        Cancelled::Unexplained => Err(port_error(what(), error)),
    }
}

/// Why, and at which write. A condition that does not hold decides, whatever else there is.
fn why_cancelled(codes: &[&str]) -> (Cancelled, usize) {
    let told = |code: &str| match code {
        "ConditionalCheckFailed" => Cancelled::Conflict,
        "TransactionConflict" => Cancelled::Busy,
        "ThrottlingError" | "ProvisionedThroughputExceeded" => Cancelled::Throttled,
        "None" => Cancelled::Unexplained,
        _ => Cancelled::Wrong,
    };
    let reasons = codes.iter().enumerate().map(|(at, code)| (told(code), at));
    reasons.min().unwrap_or((Cancelled::Unexplained, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_transaction_was_cancelled_is_told_by_its_codes() {
        for (codes, expected) in [
            (vec!["None", "ConditionalCheckFailed"], (Cancelled::Conflict, 1)),
            (vec!["TransactionConflict", "ConditionalCheckFailed"], (Cancelled::Conflict, 1)),
            (vec!["ConditionalCheckFailed", "ConditionalCheckFailed"], (Cancelled::Conflict, 0)),
            (vec!["None", "None", "TransactionConflict"], (Cancelled::Busy, 2)),
            (vec!["ThrottlingError", "TransactionConflict"], (Cancelled::Busy, 1)),
            (vec!["None", "ProvisionedThroughputExceeded"], (Cancelled::Throttled, 1)),
            (vec!["ThrottlingError"], (Cancelled::Throttled, 0)),
            (vec!["TransactionConflict", "ValidationError"], (Cancelled::Wrong, 1)),
            (vec!["ItemCollectionSizeLimitExceeded"], (Cancelled::Wrong, 0)),
            (vec!["None", "None"], (Cancelled::Unexplained, 0)),
            (vec![], (Cancelled::Unexplained, 0)),
        ] {
            assert_eq!(why_cancelled(&codes), expected, "{codes:?}");
        }
    }
}
