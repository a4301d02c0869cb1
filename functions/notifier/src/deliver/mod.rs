//! Delivers what is pending for one provider: one after the other, in order, until something stands in the way.

mod settle;

use std::collections::BTreeSet;

use yuba_core::id::{ObjectName, RunId, StackId};
use yuba_core::message::Cause;
use yuba_core::notify::{
    Mend, Notification, Occasion, Provider, ProviderHealth, SlackMessage, Undelivered, pending_partition,
};
use yuba_core::spec::ValuesKind;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{NoAnswer, Order, PortError, Ports, Query};

use crate::notice::Notice;
use crate::service::{self, Heard, Service, Step};
use crate::settings::NotifierSettings;

/// How many notifications are read at once.
const PAGE: usize = 100;
/// How often one is sent anew whose message turns out to be gone.
const MOST_SENDS: usize = 2;
/// How many requests one notice takes at most.
const MOST_STEPS: usize = 4;

/// Delivers what is pending for a provider.
pub(crate) async fn pending(
    ports: &Ports,
    settings: &NotifierSettings,
    name: &ObjectName,
    causes: &[&Cause],
) -> Result<Vec<String>, PortError> {
    let mut delivery = Delivery::of(ports, settings, name, causes).await?;
    let mut after = None;
    loop {
        let (partition, prefix) = (pending_partition(name), String::new());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
        let (notifications, next) = page::<Notification>(&*ports.store, query).await?;
        delivery.page(notifications).await?;
        match next {
            None => return Ok(delivery.report),
            next => after = next,
        }
    }
}

/// One round of deliveries.
struct Delivery<'a> {
    ports: &'a Ports,
    settings: &'a NotifierSettings,
    name: &'a ObjectName,
    /// Who delivers; or why nobody can.
    service: Result<Box<dyn Service>, Undelivered>,
    health: Versioned<ProviderHealth>,
    report: Vec<String>,
}

impl<'a> Delivery<'a> {
    async fn of(
        ports: &'a Ports,
        settings: &'a NotifierSettings,
        name: &'a ObjectName,
        causes: &[&Cause],
    ) -> Result<Self, PortError> {
        let store = &*ports.store;
        let provider = load::<Provider>(store, &Provider::key_of(name)).await?.map(Versioned::into_value);
        let health = load::<ProviderHealth>(store, &ProviderHealth::key_of(name)).await?;
        let mut health = health.unwrap_or_else(|| Versioned::new(ProviderHealth::new(name.clone())));
        // Somebody has changed what may have stood in the way, or asks for another try.
        let changes = |cause: &&Cause| {
            matches!(cause, Cause::Values { .. } | Cause::Definition { .. } | Cause::Request(_))
        };
        if causes.iter().any(changes) {
            health.held_until = None;
        }
        let service = match provider.filter(|provider| provider.vanished.is_none()) {
            Some(provider) => service_of(ports, settings, &provider).await?,
            None => Err(Undelivered::new(Mend::Nothing, format!("there is no provider {name} any more"))),
        };
        Ok(Self { ports, settings, name, service, health, report: Vec::new() })
    }

    async fn page(&mut self, notifications: Vec<Versioned<Notification>>) -> Result<(), PortError> {
        // All events of the page were there before its first message is drawn: that shows what came of each of them.
        let mut shown: BTreeSet<(StackId, RunId)> = BTreeSet::new();
        let mut held = Vec::new();
        for notification in notifications {
            let is_test = matches!(notification.of, Occasion::Test { .. });
            let run = notification.of.run().filter(|_| self.shows_runs());
            if self.health.is_held(self.ports.clock.now()).is_some() && !is_test {
                held.push(notification);
            } else if run.is_some_and(|run| shown.contains(&run)) {
                self.settle_shown(notification).await?;
            } else if self.one(notification).await? {
                shown.extend(run);
            }
        }
        self.hold(held).await
    }

    /// Whether one message tells all that happened to a run.
    fn shows_runs(&self) -> bool {
        self.service.as_ref().is_ok_and(|service| service.shows_runs())
    }

    /// Delivers one; whether that went well.
    async fn one(&mut self, notification: Versioned<Notification>) -> Result<bool, PortError> {
        let Some(mut notice) = Notice::load(self.ports, self.name, &notification.of).await? else {
            self.give_up(notification, "what it tells of is not in the records any more").await?;
            return Ok(false);
        };
        match self.send(&mut notice).await {
            Ok(sent) => self.settle_sent(notification, notice, sent).await.map(|()| true),
            Err(failure) => self.settle_failed(notification, notice, &failure).await.map(|()| false),
        }
    }

    async fn send(&self, notice: &mut Notice) -> Result<Sent, Undelivered> {
        let service = self.service.as_ref().map_err(Clone::clone)?;
        for _ in 0..MOST_SENDS {
            match self.converse(&**service, notice).await? {
                None => return Ok(Sent::Nothing),
                Some(Heard::Taken) => return Ok(Sent::Taken(None)),
                Some(Heard::Posted(message)) => return Ok(Sent::Taken(Some(message))),
                Some(Heard::Gone) => notice.forget_message(),
            }
        }
        Err(Undelivered::new(Mend::Time, "the message that was to be edited is gone, again and again"))
    }

    /// Sends the requests that tell a notice, one after the other.
    async fn converse(&self, service: &dyn Service, notice: &Notice) -> Result<Option<Heard>, Undelivered> {
        let Some(mut request) = service.request(notice) else { return Ok(None) };
        for number in 0..MOST_STEPS {
            let answer = self.settings.http.post(&request).await.map_err(|error| match error {
                NoAnswer::Refused(why) => Undelivered::new(Mend::Settings, why),
                NoAnswer::Unreachable(why) => Undelivered::new(Mend::Time, why),
            })?;
            match service.follow(notice, number, &answer)? {
                Step::Over(heard) => return Ok(Some(heard)),
                Step::Then(next) => request = *next,
            }
        }
        Err(Undelivered::new(Mend::Nothing, "one message led to ever more requests"))
    }
}

/// What was sent.
enum Sent {
    /// Nothing: it is shown already.
    Nothing,
    /// A message; this one, where it can be named.
    Taken(Option<SlackMessage>),
}

/// Who delivers for a provider.
async fn service_of(
    ports: &Ports,
    settings: &NotifierSettings,
    provider: &Provider,
) -> Result<Result<Box<dyn Service>, Undelivered>, PortError> {
    let Some(name) = &provider.spec.secret else {
        return Ok(service::of(settings, &provider.spec, &service::Values::default()));
    };
    Ok(match ports.secrets.get(ValuesKind::Secret, name).await? {
        Some(secret) => service::of(settings, &provider.spec, &service::Values(secret.values)),
        None => Err(Undelivered::new(
            Mend::Settings,
            format!("there is no secret {name}: `yuba secret set {name}` writes it"),
        )),
    })
}
