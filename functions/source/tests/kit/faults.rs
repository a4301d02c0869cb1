//! Ports that fail once: before or after doing what they were asked, as a crash in between would look.

use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use yuba_core::message::Message;
use yuba_core::record::Key;
use yuba_core::time::Span;
use yuba_ports::{
    Blobs, Committed, DeadLetter, Item, Page, PortError, Ports, PutMode, PutOutcome, Query, Queue, QueueName,
    Received, Store, Write,
};

/// Where a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Before it does anything.
    Before,
    /// After it has done everything.
    After,
}

/// Counts the calls of all ports, and fails one of them. None until one is planned.
#[derive(Clone, Default)]
pub struct Faults {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Calls until the fault; below zero when it is past.
    left: AtomicI64,
    after: AtomicI64,
    meanwhile: Mutex<Option<Meanwhile>>,
}

/// What happens before a call that then goes well.
type Meanwhile = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Faults {
    /// Fails the call of this number, counted from 1.
    pub fn plan(&self, call: i64, cut: Cut) {
        self.state.after.store(i64::from(cut == Cut::After), Ordering::SeqCst);
        self.state.left.store(call, Ordering::SeqCst);
    }

    /// Lets something happen before the call of this number, counted from 1.
    pub fn meanwhile(&self, call: i64, what: impl Future<Output = ()> + Send + 'static) {
        *self.state.meanwhile.lock().unwrap() = Some(Box::pin(what));
        self.state.left.store(call, Ordering::SeqCst);
    }

    /// Whether the planned fault has happened; it is off in any case.
    pub fn happened(&self) -> bool {
        self.state.left.swap(0, Ordering::SeqCst) < 0
    }

    /// The ports with faults.
    pub fn over(&self, ports: Ports) -> Ports {
        let faults = self.clone();
        Ports {
            store: Arc::new(Faulty { inner: ports.store, faults: faults.clone() }),
            queue: Arc::new(Faulty { inner: ports.queue, faults: faults.clone() }),
            blobs: Arc::new(Faulty { inner: ports.blobs, faults }),
            ..ports
        }
    }

    fn is_now(&self) -> bool {
        // Zero means that nothing is planned, one that this call is it.
        let step = |left| match left {
            1 => Some(-1),
            left if left > 1 => Some(left - 1),
            _ => None,
        };
        self.state.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, step) == Ok(1)
    }

    async fn around<T>(&self, call: impl Future<Output = Result<T, PortError>>) -> Result<T, PortError> {
        let cut = || PortError::transient("cut here");
        if !self.is_now() {
            return call.await;
        }
        let meanwhile = self.state.meanwhile.lock().unwrap().take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
            return call.await;
        }
        if self.state.after.load(Ordering::SeqCst) == 1 {
            call.await?;
        }
        Err(cut())
    }
}

struct Faulty<T: ?Sized> {
    inner: Arc<T>,
    faults: Faults,
}

#[async_trait]
impl Store for Faulty<dyn Store> {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        self.faults.around(self.inner.get(key)).await
    }
    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        self.faults.around(self.inner.commit(writes)).await
    }
    async fn query(&self, query: Query) -> Result<Page, PortError> {
        self.faults.around(self.inner.query(query)).await
    }
}

#[async_trait]
impl Queue for Faulty<dyn Queue> {
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError> {
        self.faults.around(self.inner.send(messages)).await
    }
    async fn receive(&self, queue: QueueName, most: usize, wait: Span) -> Result<Vec<Received>, PortError> {
        self.inner.receive(queue, most, wait).await
    }
    async fn ack(&self, received: &Received) -> Result<(), PortError> {
        self.inner.ack(received).await
    }
    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError> {
        self.inner.release(received, after).await
    }
    async fn set_aside(&self, received: &Received, why: &str) -> Result<(), PortError> {
        self.inner.set_aside(received, why).await
    }
    async fn dead_letters(&self, queue: QueueName, most: usize) -> Result<Vec<DeadLetter>, PortError> {
        self.inner.dead_letters(queue, most).await
    }
    async fn redrive(&self, queue: QueueName, most: usize) -> Result<usize, PortError> {
        self.inner.redrive(queue, most).await
    }
}

#[async_trait]
impl Blobs for Faulty<dyn Blobs> {
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError> {
        self.faults.around(self.inner.put(key, bytes, mode)).await
    }
    async fn put_file(&self, key: &str, file: &Path, mode: PutMode) -> Result<PutOutcome, PortError> {
        self.faults.around(self.inner.put_file(key, file, mode)).await
    }
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError> {
        self.faults.around(self.inner.get(key)).await
    }
    async fn get_file(&self, key: &str, file: &Path) -> Result<bool, PortError> {
        self.faults.around(self.inner.get_file(key, file)).await
    }
    async fn exists(&self, key: &str) -> Result<bool, PortError> {
        self.faults.around(self.inner.exists(key)).await
    }
    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.inner.list(prefix, after, limit).await
    }
    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.inner.delete(key).await
    }
}
