//! Answers slash commands from the records, for people whom a team knows.

use yuba_core::id::StackName;
use yuba_core::people::{Identity, who};
use yuba_core::record::{Index, Key, StackAlias, stack_partition};
use yuba_core::run::Run;
use yuba_core::slack::command::{Question, help, plan, runs, status};
use yuba_core::slack::payload::SlashCommand;
use yuba_core::slack::text::Mrkdwn;
use yuba_core::stack::Stack;
use yuba_ports::around::teams;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Order, PortError, Query};

use crate::answer::Answer;
use crate::router::Shared;

/// How many stacks are looked at.
const MOST_STACKS: usize = 200;
/// How many runs are shown.
const MOST_RUNS: usize = 10;

/// Answers a slash command.
pub(crate) async fn answer(shared: &Shared, command: &SlashCommand) -> Result<Answer, PortError> {
    let teams = teams(&*shared.ports.store).await?;
    if who(&teams, &Identity::slack(&command.by.id)).is_none() {
        let text = "No Team knows you: ask whoever keeps the manifests for an entry in a Team.";
        return Ok(Answer::Told(Mrkdwn::of(text)));
    }
    let told = match Question::read(&command.text) {
        Question::Help => help(),
        Question::Status(None) => status(&stacks(shared).await?),
        Question::Status(Some(name)) => match named(shared, &name).await? {
            Ok(stack) => status(&[stack]),
            Err(why) => why,
        },
        Question::Runs(name) => match named(shared, &name).await? {
            Ok(stack) => runs(&stack, &runs_of(shared, &stack, MOST_RUNS).await?),
            Err(why) => why,
        },
        Question::Plan(name) => match named(shared, &name).await? {
            Ok(stack) => match runs_of(shared, &stack, 1).await?.first() {
                Some(run) => plan(run),
                None => Mrkdwn::of("It has no run yet."),
            },
            Err(why) => why,
        },
    };
    Ok(Answer::Told(told))
}

/// The stack of a name: `namespace/name`, or `name` where only one has it.
async fn named(shared: &Shared, name: &str) -> Result<Result<Stack, Mrkdwn>, PortError> {
    let store = &*shared.ports.store;
    if let Ok(name) = name.parse::<StackName>() {
        let alias = load::<StackAlias>(store, &Key::stack_name(&name)).await?;
        let stack = match alias {
            Some(alias) => load::<Stack>(store, &Key::stack(alias.stack)).await?,
            None => None,
        };
        return Ok(stack.map(Versioned::into_value).ok_or_else(|| unknown(&name.to_string())));
    }
    let mut fitting = stacks(shared).await?;
    fitting.retain(|stack| stack.name.name == name);
    Ok(match (fitting.pop(), fitting.is_empty()) {
        (Some(stack), true) => Ok(stack),
        (Some(_), false) => {
            Err(Mrkdwn::of("Several stacks are called ").code(name).plain(": say namespace/name."))
        }
        (None, _) => Err(unknown(name)),
    })
}

fn unknown(name: &str) -> Mrkdwn {
    Mrkdwn::of("There is no stack ").code(name).plain(".")
}

async fn stacks(shared: &Shared) -> Result<Vec<Stack>, PortError> {
    let (index, prefix, order) = (Index::Stacks, String::new(), Order::Ascending);
    let query = Query::Index { index, prefix, up_to: None, order, after: None, limit: MOST_STACKS };
    let (stacks, _) = page::<Stack>(&*shared.ports.store, query).await?;
    Ok(stacks.into_iter().map(Versioned::into_value).collect())
}

/// The last runs, newest first.
async fn runs_of(shared: &Shared, stack: &Stack, limit: usize) -> Result<Vec<Run>, PortError> {
    let (partition, prefix) = (stack_partition(stack.id), "run#".to_owned());
    let query = Query::Partition { partition, prefix, order: Order::Descending, after: None, limit };
    let (runs, _) = page::<Run>(&*shared.ports.store, query).await?;
    Ok(runs.into_iter().map(Versioned::into_value).collect())
}
