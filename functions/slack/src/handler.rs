//! What follows from a press, a modal or a command that was verified and read.

use yuba_core::id::{RequestId, StackName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::people::Identity;
use yuba_core::record::Key;
use yuba_core::request::{Ask, Request, Seen, Signed, SlackReply};
use yuba_core::slack::button::{Action, ButtonValue};
use yuba_core::slack::modal::{About, Modal};
use yuba_core::slack::payload::{Interaction, Press, SlackUser, Submission};
use yuba_core::source::Definition;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{Committed, PortError};

use crate::answer::Answer;
use crate::modal;
use crate::router::Shared;

/// Handles a payload of Slack's interactivity.
pub(crate) async fn interact(shared: &Shared, interaction: Interaction) -> Result<Answer, PortError> {
    match interaction {
        Interaction::Pressed(press) => pressed(shared, press).await,
        Interaction::Submitted(submission) => submitted(shared, submission).await,
        Interaction::Other(kind) => {
            tracing::debug!(kind, "nothing follows from what Slack told");
            Ok(Answer::Taken)
        }
    }
}

async fn pressed(shared: &Shared, press: Press) -> Result<Answer, PortError> {
    let Press { by, action, value, reply, trigger } = press;
    match action {
        Action::Approve | Action::Remediate => {
            let ask = Ask::Approve { plan: None, digest: None };
            submit(shared, Wish { by, value, reply, ask, message: String::new() }).await
        }
        Action::IgnoreDay | Action::IgnoreWeek | Action::Acknowledge => {
            let ask = match action {
                Action::IgnoreDay => Ask::IgnoreDrift { hours: 24 },
                Action::IgnoreWeek => Ask::IgnoreDrift { hours: 7 * 24 },
                _ => Ask::AcknowledgeDrift,
            };
            submit(shared, Wish { by, value, reply, ask, message: String::new() }).await
        }
        Action::Reject => open(shared, Modal::Reject, About { value, reply }, &trigger).await,
        Action::ConfirmDestroy => open(shared, Modal::ConfirmDestroy, About { value, reply }, &trigger).await,
        // Slack opens the page by itself.
        Action::ViewPlan => Ok(Answer::Taken),
    }
}

async fn open(shared: &Shared, modal: Modal, about: About, trigger: &str) -> Result<Answer, PortError> {
    let Some(stack) = name(shared, &about.value).await? else {
        return Ok(unknown(&about.value));
    };
    let view = about.view(modal, &stack.to_string());
    modal::open(shared, trigger, &view).await?;
    Ok(Answer::Taken)
}

async fn submitted(shared: &Shared, submission: Submission) -> Result<Answer, PortError> {
    let Submission { by, modal, about, typed } = submission;
    let About { value, reply } = about;
    let (ask, message) = match modal {
        Modal::Reject => (Ask::Reject, typed),
        Modal::ConfirmDestroy => {
            let Some(stack) = name(shared, &value).await? else {
                return Ok(unknown(&value));
            };
            if ![stack.to_string(), stack.name.clone()].contains(&typed.trim().to_owned()) {
                return Ok(Answer::WrongInput(format!("That is not the stack's name, which is {stack}.")));
            }
            // Nobody destroys "whatever waits": the plan is named.
            let digest = value.content.map(|content| content.short());
            (Ask::Approve { plan: None, digest }, String::new())
        }
    };
    submit(shared, Wish { by, value, reply, ask, message }).await
}

/// Something that is asked for, not stored yet.
struct Wish {
    by: SlackUser,
    value: ButtonValue,
    reply: SlackReply,
    ask: Ask,
    message: String,
}

/// Stores what is asked for, and wakes its stack: what was answered is durable.
async fn submit(shared: &Shared, wish: Wish) -> Result<Answer, PortError> {
    let Wish { by, value, reply, ask, message } = wish;
    if name(shared, &value).await?.is_none() {
        return Ok(unknown(&value));
    }
    let ports = &shared.ports;
    let by = Signed {
        who: format!("slack:{}/{}", by.workspace, by.id),
        at: ports.clock.now(),
        from: "slack".to_owned(),
        message,
        identity: Some(Identity::slack(&by.id)),
    };
    let request = Request {
        seen: Some(Seen { run: value.run, content: value.content }),
        reply: Some(reply),
        ..Request::new(RequestId(ports.ids.ulid()), value.stack, by, ask)
    };
    let (id, stack) = (request.id, request.stack);
    match ports.store.commit(vec![Versioned::new(request).put()?]).await? {
        Committed::Done => {}
        Committed::Conflict(key) => return Err(PortError::transient(format!("{key} is there already"))),
    }
    ports.queue.send(vec![Message::new(Wake::Stack(stack), Cause::Request(id))]).await?;
    Ok(Answer::Taken)
}

/// The name of the stack that a button is about.
async fn name(shared: &Shared, value: &ButtonValue) -> Result<Option<StackName>, PortError> {
    let definition = load::<Definition>(&*shared.ports.store, &Key::definition(value.stack)).await?;
    Ok(definition.map(|definition| definition.into_value().name))
}

/// A button of another installation, whose app has the same signing secret.
fn unknown(value: &ButtonValue) -> Answer {
    tracing::warn!(stack = %value.stack, "a button in Slack is about a stack that no record names");
    Answer::Taken
}
