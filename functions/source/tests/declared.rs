//! Taking over the documents that are stored as they say.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails the test")]

mod kit;

use kit::World;
use yuba_core::id::ObjectName;
use yuba_core::message::Wake;
use yuba_core::notify::{Alert, Provider, Service};
use yuba_core::time::Span;
use yuba_ports::{Queue, QueueName};

fn of(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )
}

fn provider(channel: &str) -> String {
    of("Provider", "chat", &format!("{{type: slack, channel: '{channel}', secretRef: {{name: chat}}}}"))
}

fn alert() -> String {
    of("Alert", "all", "{providerRef: {name: chat}, eventSources: [{kind: Terraform, name: '*'}]}")
}

async fn taken(world: &World) -> (Option<Provider>, Option<Alert>) {
    let (chat, all) = (ObjectName::new("default", "chat"), ObjectName::new("default", "all"));
    (world.load(&Provider::key_of(&chat)).await, world.load(&Alert::key_of(&all)).await)
}

/// Which providers were woken.
async fn woken(world: &World) -> Vec<String> {
    let received = world.memory.queue.receive(QueueName::Notices, 10, Span::ZERO).await.unwrap();
    let mut names = Vec::new();
    for received in received {
        world.memory.queue.ack(&received).await.unwrap();
        let Wake::Provider(name) = received.message.wake else { panic!("{:?}", received.message) };
        names.push(name.to_string());
    }
    names
}

#[tokio::test]
async fn a_provider_is_stored_and_woken_when_it_says_something_else() {
    let world = World::settled(&[], &(provider("#one") + &alert())).await;
    let (chat, all) = taken(&world).await;
    let (chat, all) = (chat.unwrap(), all.unwrap());
    assert_eq!((&chat.spec.service, chat.spec.channel.as_deref()), (&Service::Slack, Some("#one")));
    assert_eq!((all.spec.provider, chat.snapshot), (chat.name, 1));
    assert_eq!(woken(&world).await, ["default/chat"]);
    world.manifests(&(provider("#one") + &alert() + "# a comment\n"));
    world.take_over().await;
    assert_eq!(woken(&world).await, [""; 0]);
    world.manifests(&(alert() + &provider("#two")));
    world.take_over().await;
    assert_eq!(woken(&world).await, ["default/chat"]);
    assert_eq!(taken(&world).await.0.unwrap().spec.channel.as_deref(), Some("#two"));
}

#[tokio::test]
async fn what_is_gone_from_the_manifests_vanishes_and_may_return() {
    let world = World::settled(&[], &(provider("#one") + &alert())).await;
    world.manifests(&provider("#one"));
    world.take_over().await;
    let (chat, all) = taken(&world).await;
    assert!(chat.unwrap().vanished.is_none() && all.unwrap().vanished.is_some());
    world.manifests(&(provider("#one") + &alert()));
    world.take_over().await;
    assert!(taken(&world).await.1.unwrap().vanished.is_none());
}

#[tokio::test]
async fn the_last_good_version_of_a_faulty_document_stays() {
    let world = World::settled(&[], &(provider("#one") + &alert())).await;
    world.manifests(&(of("Provider", "chat", "{channel: '#two'}") + "---\nkind: Alert\nmetadata: [\n"));
    world.take_over().await;
    let (chat, all) = taken(&world).await;
    let (chat, all) = (chat.unwrap(), all.unwrap());
    assert_eq!((chat.spec.channel.as_deref(), chat.vanished, all.vanished), (Some("#one"), None, None));
    assert!(world.record().await.findings.join("\n").contains("spec.type: found nothing"));
}

#[tokio::test]
async fn a_provider_of_another_set_is_not_taken_from_it() {
    let mut world = World::settled(&[], &provider("#one")).await;
    let second = tempfile::TempDir::new().unwrap();
    std::fs::write(second.path().join("a.yaml"), provider("#two")).unwrap();
    let name = yuba_core::id::ManifestSetName(second.path().display().to_string());
    world.settings.manifests = vec![name];
    world.start().await;
    assert_eq!(taken(&world).await.0.unwrap().spec.channel.as_deref(), Some("#one"));
    let findings = world.record().await.findings.join("\n");
    assert!(findings.contains("Provider default/chat is defined in"), "{findings}");
}
