//! From an event to a notification for each provider that is to know of it.

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::declared::DeclaredSpec;
use yuba_core::event::Event;
use yuba_core::id::{ObjectName, RunId, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{
    Alert, AlertSpec, Incident, IncidentCause, Notification, Occasion, Provider, Said, Service, SlackThread,
    incidents_partition, route, threads_partition,
};
use yuba_core::record::{Key, Record};
use yuba_core::source::Definition;
use yuba_ports::records::{Versioned, load, page, put_any};
use yuba_ports::{Committed, Expected, Order, PortError, Ports, Query, Write};

/// How many records are read at once.
const PAGE: usize = 100;

/// Tells providers of an event; the same event again is not told again.
pub(crate) async fn event(ports: &Ports, stack: StackId, number: u64) -> Result<Vec<String>, PortError> {
    let Some(event) = load::<Event>(&*ports.store, &Key::event(stack, number)).await? else {
        return Ok(vec![format!("there is no event {number} of stack {stack}")]);
    };
    let mut telling = Telling { ports, event: &event, woken: BTreeSet::new(), report: Vec::new() };
    let told = telling.alerted().await?;
    telling.over().await?;
    telling.again(&told).await?;
    telling.wake().await?;
    Ok(telling.report)
}

/// Whether the same was said a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// It was not.
    New,
    /// It was.
    Repeated,
}

/// An event being told.
struct Telling<'a> {
    ports: &'a Ports,
    event: &'a Event,
    /// The providers that have something to send.
    woken: BTreeSet<ObjectName>,
    report: Vec<String>,
}

impl Telling<'_> {
    /// Stores a notification for each provider that an alert chooses. Which of them show the run by it.
    async fn alerted(&mut self) -> Result<BTreeSet<ObjectName>, PortError> {
        let alerts: Vec<Alert> = self.all(AlertSpec::PARTITION.to_owned()).await?;
        let labels = self.labels().await?;
        let chosen = route(self.event, &labels, &alerts);
        if chosen.is_empty() {
            return Ok(BTreeSet::new());
        }
        let words = if self.is_said().await? { Words::Repeated } else { Words::New };
        let mut showing = BTreeSet::new();
        for (provider, alert) in chosen {
            let of = self.occasion(&alert.name, &alert.spec.metadata);
            let shows = of.run().is_some();
            if self.tell(provider, of, words).await? && shows {
                showing.insert(provider.clone());
            }
        }
        Ok(showing)
    }

    fn occasion(&self, alert: &ObjectName, metadata: &BTreeMap<String, String>) -> Occasion {
        Occasion::Alert {
            stack: self.event.stack,
            event: self.event.number,
            run: self.event.run.filter(|_| self.event.kind.is_told_by_run()),
            alert: alert.clone(),
            metadata: metadata.clone(),
        }
    }

    /// Tells the end of what was wrong to whoever was told of its beginning, whatever alerts choose now.
    async fn over(&mut self) -> Result<(), PortError> {
        let Some(cause) = IncidentCause::closed_by(self.event.kind) else { return Ok(()) };
        let incidents: Vec<Incident> = self.all(incidents_partition(self.event.stack)).await?;
        let is_over = |incident: &Incident| incident.cause == cause && incident.event < self.event.number;
        for incident in incidents.into_iter().filter(is_over) {
            let of = self.occasion(&incident.alert, &incident.metadata);
            self.tell(&incident.provider, of, Words::New).await?;
            let gone = Write::Delete { key: incident.key(), expected: Expected::Any };
            self.ports.store.commit(vec![gone]).await?;
        }
        Ok(())
    }

    /// Has messages that were sent before drawn again, where they may show no longer how their runs stand.
    async fn again(&mut self, told: &BTreeSet<ObjectName>) -> Result<(), PortError> {
        let threads: Vec<SlackThread> = self.all(threads_partition(self.event.stack)).await?;
        let shows_event =
            |thread: &SlackThread| Some(thread.run) == self.event.run && told.contains(&thread.provider);
        let stale: Vec<SlackThread> =
            threads.into_iter().filter(|thread| thread.is_open && !shows_event(thread)).collect();
        for SlackThread { provider, stack, run, .. } in stale {
            let of = Occasion::Again { stack, event: self.event.number, run };
            self.tell(&provider, of, Words::New).await?;
        }
        Ok(())
    }

    /// Whether the same was said of the stack a moment ago; else that it is said now is noted.
    async fn is_said(&mut self) -> Result<bool, PortError> {
        let (store, now) = (&*self.ports.store, self.ports.clock.now());
        let said = Said::of(self.event, now);
        if let Some(before) = load::<Said>(store, &said.key()).await?
            && before.silences(self.event, now)
        {
            self.report
                .push(format!("the same was said by event {} less than five minutes ago", before.event));
            return Ok(true);
        }
        store.commit(vec![put_any(&said)?]).await?;
        Ok(false)
    }

    /// Stores what a provider is to tell, unless that was done before. Whether the provider can tell anything.
    async fn tell(&mut self, name: &ObjectName, of: Occasion, words: Words) -> Result<bool, PortError> {
        let provider = load::<Provider>(&*self.ports.store, &Provider::key_of(name)).await?;
        let Some(provider) = provider.filter(|provider| provider.vanished.is_none()) else {
            self.report.push(format!("there is no provider {name}"));
            return Ok(false);
        };
        if provider.spec.suspend || matches!(provider.spec.service, Service::Other(_)) {
            self.report.push(format!("provider {name} sends nothing"));
            return Ok(false);
        }
        let service = &provider.spec.service;
        // The same incident is told again: it may have ended meanwhile.
        if words == Words::Repeated && !service.keeps_incidents() {
            return Ok(false);
        }
        let run = of.run().filter(|_| service.shows_runs());
        let incident = if service.keeps_incidents() { self.incident(name, &of) } else { None };
        let notification = Notification::new(name.clone(), of, self.ports.clock.now());
        self.store(notification, run, incident).await?;
        self.woken.insert(name.clone());
        Ok(true)
    }

    async fn store(
        &mut self,
        notification: Notification,
        run: Option<(StackId, RunId)>,
        incident: Option<Incident>,
    ) -> Result<(), PortError> {
        let (name, id) = (notification.provider.clone(), notification.of.id());
        let settled = Notification::settled_key(&name, &id);
        let mut writes = vec![
            Write::Check { key: settled, expected: Expected::Absent },
            Versioned::new(notification).put()?,
        ];
        if let Some((stack, run)) = run {
            writes.extend(self.new_thread(&name, stack, run).await?);
        }
        if let Some(incident) = incident {
            writes.push(put_any(&incident)?);
        }
        // A conflict says that the event was told before.
        let is_new = self.ports.store.commit(writes).await? == Committed::Done;
        let word = if is_new { "is told of" } else { "was told before of" };
        self.report.push(format!("provider {name} {word} {id}"));
        Ok(())
    }

    /// What the provider keeps open from now on, where the event says that something is wrong.
    fn incident(&self, provider: &ObjectName, of: &Occasion) -> Option<Incident> {
        let Occasion::Alert { stack, event, alert, metadata, .. } = of else { return None };
        Some(Incident {
            provider: provider.clone(),
            stack: *stack,
            cause: IncidentCause::opened_by(self.event.kind)?,
            event: *event,
            alert: alert.clone(),
            metadata: metadata.clone(),
            at: self.ports.clock.now(),
        })
    }

    /// That the provider shows the run, where that is not known yet.
    async fn new_thread(
        &self,
        provider: &ObjectName,
        stack: StackId,
        run: RunId,
    ) -> Result<Option<Write>, PortError> {
        let key = SlackThread::key_of(stack, run, provider);
        if self.ports.store.get(&key).await?.is_some() {
            return Ok(None);
        }
        let thread = SlackThread::new(provider.clone(), stack, run, self.ports.clock.now());
        Versioned::new(thread).put().map(Some)
    }

    async fn wake(&self) -> Result<(), PortError> {
        let cause = Cause::Event { stack: self.event.stack, number: self.event.number };
        let wake = |name: &ObjectName| Message::new(Wake::Provider(name.clone()), cause.clone());
        let messages: Vec<Message> = self.woken.iter().map(wake).collect();
        if messages.is_empty() { Ok(()) } else { self.ports.queue.send(messages).await }
    }

    async fn labels(&self) -> Result<BTreeMap<String, String>, PortError> {
        let key = Key::definition(self.event.stack);
        let definition = load::<Definition>(&*self.ports.store, &key).await?;
        Ok(definition.map(|definition| definition.into_value().spec.labels).unwrap_or_default())
    }

    /// All records of a partition.
    async fn all<T: Record>(&self, partition: String) -> Result<Vec<T>, PortError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let (prefix, order) = (String::new(), Order::Ascending);
            let query = Query::Partition { partition: partition.clone(), prefix, order, after, limit: PAGE };
            let (records, next) = page::<T>(&*self.ports.store, query).await?;
            all.extend(records.into_iter().map(Versioned::into_value));
            match next {
                None => return Ok(all),
                next => after = next,
            }
        }
    }
}
