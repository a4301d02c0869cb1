//! Routes a gRPC request to its call. A call goes on when the connection breaks off, as a real cloud's would; the
//! process waits for it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::Service;

use super::toy::Toy;
use super::wire::Empty;
use super::{calls, change};

type Answer = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;
type Raw = http::Request<Body>;

/// The service `tfplugin6.Provider`.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    pub(crate) toy: Arc<Toy>,
    pub(crate) in_flight: Arc<AtomicUsize>,
}

impl NamedService for Provider {
    const NAME: &'static str = "tfplugin6.Provider";
}

impl Service<Raw> for Provider {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, raw: Raw) -> Answer {
        let method = raw.uri().path().rsplit('/').next().unwrap_or_default();
        match method {
            "GetProviderSchema" => self.unary(raw, calls::schema),
            "ValidateProviderConfig" => self.unary(raw, calls::validate_provider),
            "ValidateResourceConfig" | "ValidateDataResourceConfig" => self.unary(raw, calls::validate),
            "ConfigureProvider" => self.unary(raw, calls::configure),
            "UpgradeResourceState" => self.unary(raw, calls::upgrade),
            "ReadResource" => self.unary(raw, calls::read),
            "PlanResourceChange" => self.unary(raw, calls::plan),
            "ApplyResourceChange" => self.unary(raw, change::apply),
            "ImportResourceState" => self.unary(raw, calls::import),
            "ReadDataSource" => self.unary(raw, calls::read_data),
            "StopProvider" => self.unary(raw, calls::stop),
            _ => unimplemented(),
        }
    }
}

impl Provider {
    fn unary<Q, A, C, F>(&self, raw: Raw, call: C) -> Answer
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
        C: Fn(Arc<Toy>, Q) -> F + Send + Sync + 'static,
        F: Future<Output = A> + Send + 'static,
    {
        let Self { toy, in_flight } = self.clone();
        let service = tower::service_fn(move |request: Request<Q>| {
            let answer = tokio::spawn(counted(in_flight.clone(), call(toy.clone(), request.into_inner())));
            async { answer.await.map(Response::new).map_err(|error| Status::internal(error.to_string())) }
        });
        answer::<Q, A, _>(raw, service)
    }
}

async fn counted<A>(in_flight: Arc<AtomicUsize>, call: impl Future<Output = A>) -> A {
    in_flight.fetch_add(1, Ordering::SeqCst);
    let answer = call.await;
    in_flight.fetch_sub(1, Ordering::SeqCst);
    answer
}

/// The service `plugin.GRPCController`, by which tofu ends the process.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    pub(crate) shutdown: Arc<Notify>,
}

impl NamedService for Controller {
    const NAME: &'static str = "plugin.GRPCController";
}

impl Service<Raw> for Controller {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, raw: Raw) -> Answer {
        if !raw.uri().path().ends_with("/Shutdown") {
            return unimplemented();
        }
        let shutdown = self.shutdown.clone();
        let service = tower::service_fn(move |_: Request<Empty>| {
            shutdown.notify_one();
            std::future::ready(Ok::<_, Status>(Response::new(Empty {})))
        });
        answer::<Empty, Empty, _>(raw, service)
    }
}

fn answer<Q, A, S>(raw: Raw, service: S) -> Answer
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + Default + 'static,
    S: Service<Request<Q>, Response = Response<A>, Error = Status> + Send + 'static,
    S::Future: Send,
{
    Box::pin(async move { Ok(Grpc::new(ProstCodec::<A, Q>::default()).unary(service, raw).await) })
}

fn unimplemented() -> Answer {
    let response = Status::unimplemented("the toy cloud does not know this method").into_http();
    Box::pin(std::future::ready(Ok(response)))
}
