//! What is written when a notification was sent, or was not.

use yuba_core::notify::{Mend, NoticeState, Notification, Occasion, SlackThread, Undelivered};
use yuba_ports::records::{Versioned, load, put_any};
use yuba_ports::{Committed, MOST_WRITES, PortError, Write};

use super::{Delivery, Sent};
use crate::notice::Notice;

/// How many notifications one commit holds: each may be deleted in one place and written in another.
const AT_ONCE: usize = MOST_WRITES / 2;

impl Delivery<'_> {
    /// It was delivered: what shows a run now is noted beside it.
    pub(super) async fn settle_sent(
        &mut self,
        notification: Versioned<Notification>,
        notice: Notice,
        sent: Sent,
    ) -> Result<(), PortError> {
        let now = self.ports.clock.now();
        let mut writes = moved(&notification, notification.clone().into_value().sent(now))?;
        writes.extend(self.shown(&notice, &sent)?);
        if matches!(sent, Sent::Taken(_)) {
            self.health.succeeded(now);
            writes.push(put_any(&*self.health)?);
        }
        self.report.push(format!("sent {}", notification.of.id()));
        let settled = self.commit(writes).await;
        if settled.is_err() && matches!(sent, Sent::Taken(_)) {
            self.draw_again(&notification).await?;
        }
        settled
    }

    /// Others may have drawn the run meanwhile, from newer records, before this was sent: it is drawn once more.
    async fn draw_again(&self, notification: &Notification) -> Result<(), PortError> {
        let (Some((stack, run)), true) = (notification.of.run(), self.shows_runs()) else { return Ok(()) };
        let (Occasion::Alert { event, .. } | Occasion::Again { event, .. }) = notification.of else {
            return Ok(());
        };
        let of = Occasion::Again { stack, event, run };
        loop {
            let thread = load(&*self.ports.store, &SlackThread::key_of(stack, run, self.name)).await?;
            let Some(thread): Option<Versioned<SlackThread>> = thread else { return Ok(()) };
            let unknown = SlackThread { shown: None, is_open: true, ..(*thread).clone() };
            let again = Notification::new(self.name.clone(), of.clone(), self.ports.clock.now());
            let writes = vec![thread.with(unknown).put()?, put_any(&again)?];
            if self.ports.store.commit(writes).await? == Committed::Done {
                return Ok(());
            }
        }
    }

    /// What the message of a run shows from now on.
    fn shown(&self, notice: &Notice, sent: &Sent) -> Result<Option<Write>, PortError> {
        let shown = self.service.as_ref().ok().and_then(|service| service.shown(notice));
        let Some((shown, view)) = shown.zip(notice.run()) else { return Ok(None) };
        let Some(mut thread) = view.thread.clone() else { return Ok(None) };
        if let Sent::Taken(Some(message)) = sent {
            thread.posted = Some(message.clone());
        }
        thread.shown = Some(shown);
        thread.is_open = !view.is_final();
        thread.put().map(Some)
    }

    /// It was not delivered, as far as is known: a message that was to be edited may show either.
    pub(super) async fn settle_failed(
        &mut self,
        notification: Versioned<Notification>,
        notice: Notice,
        failure: &Undelivered,
    ) -> Result<(), PortError> {
        let (name, now, id) = (self.name, self.ports.clock.now(), notification.of.id());
        tracing::warn!(provider = %name, notification = %id, why = %failure.why, "a notification was not delivered");
        self.health.failed(failure, now);
        let after = notification.clone().into_value().failed(failure, self.health.held_until, now);
        let mut writes = moved(&notification, after)?;
        writes.push(put_any(&*self.health)?);
        let thread =
            notice.run().and_then(|view| view.thread.clone()).filter(|thread| thread.shown.is_some());
        if let Some(mut thread) = thread.filter(|_| failure.mend == Mend::Time) {
            thread.shown = None;
            writes.push(thread.put()?);
        }
        self.report.push(format!("not sent {id}: {}", failure.why));
        self.commit(writes).await
    }

    /// A message that was sent a moment ago shows what it tells of.
    pub(super) async fn settle_shown(
        &mut self,
        notification: Versioned<Notification>,
    ) -> Result<(), PortError> {
        let after = notification.clone().into_value().sent(self.ports.clock.now());
        self.report.push(format!("shown already {}", notification.of.id()));
        self.commit(moved(&notification, after)?).await
    }

    /// It cannot be told.
    pub(super) async fn give_up(
        &mut self,
        notification: Versioned<Notification>,
        why: &str,
    ) -> Result<(), PortError> {
        let after = notification.clone().into_value().given_up(why, self.ports.clock.now());
        self.report.push(format!("given up {}: {why}", notification.of.id()));
        self.commit(moved(&notification, after)?).await
    }

    /// What waits behind a failure waits as long.
    pub(super) async fn hold(&mut self, held: Vec<Versioned<Notification>>) -> Result<(), PortError> {
        let now = self.ports.clock.now();
        let Some(until) = self.health.is_held(now) else { return Ok(()) };
        let why = self.health.last_error.as_ref().map(|error| error.why.clone()).unwrap_or_default();
        self.report.push(format!("{} wait until {until}: {why}", held.len()));
        let waits = NoticeState::Pending { due: until };
        for held in held.chunks(AT_ONCE) {
            let mut writes = Vec::new();
            for notification in held.iter().filter(|held| held.state != waits) {
                let after = notification.clone().into_value().held(until, &why, now);
                writes.extend(moved(notification, after)?);
            }
            self.commit(writes).await?;
        }
        Ok(())
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<(), PortError> {
        if writes.is_empty() {
            return Ok(());
        }
        match self.ports.store.commit(writes).await? {
            Committed::Done => Ok(()),
            Committed::Conflict(key) => Err(PortError::transient(format!("{key} was written meanwhile"))),
        }
    }
}

/// The writes that leave a notification as it is afterwards: in its place, or with those that are settled.
fn moved(before: &Versioned<Notification>, after: Notification) -> Result<Vec<Write>, PortError> {
    if matches!(after.state, NoticeState::Pending { .. }) {
        return Ok(vec![before.clone().with(after).put()?]);
    }
    let key = Notification::pending_key(&before.provider, &before.of.id());
    Ok(vec![Write::Delete { key, expected: before.expected() }, put_any(&after)?])
}
