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

use super::wire::{
    ApplyRequest, ApplyResponse, ConfigureRequest, DiagnosticsResponse, Empty, ImportRequest, ImportResponse,
    PlanRequest, PlanResponse, ReadRequest, SchemaResponse, StateResponse, StopResponse, UpgradeRequest,
    ValidateProviderRequest, ValidateProviderResponse, ValidateRequest,
};

type Answer = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;
type Raw = http::Request<Body>;

/// What a provider answers to each call of the protocol.
pub(crate) trait Plugin: Send + Sync + 'static {
    fn schema(self: Arc<Self>, request: Empty) -> impl Future<Output = SchemaResponse> + Send;
    fn configure(
        self: Arc<Self>,
        request: ConfigureRequest,
    ) -> impl Future<Output = DiagnosticsResponse> + Send;
    fn validate(
        self: Arc<Self>,
        request: ValidateRequest,
    ) -> impl Future<Output = DiagnosticsResponse> + Send;
    fn upgrade(self: Arc<Self>, request: UpgradeRequest) -> impl Future<Output = StateResponse> + Send;
    fn read(self: Arc<Self>, request: ReadRequest) -> impl Future<Output = StateResponse> + Send;
    fn plan(self: Arc<Self>, request: PlanRequest) -> impl Future<Output = PlanResponse> + Send;
    fn apply(self: Arc<Self>, request: ApplyRequest) -> impl Future<Output = ApplyResponse> + Send;
    fn import(self: Arc<Self>, request: ImportRequest) -> impl Future<Output = ImportResponse> + Send;
    fn read_data(self: Arc<Self>, request: ReadRequest) -> impl Future<Output = StateResponse> + Send;

    /// Asks the calls in flight to end promptly.
    fn interrupt(&self);
}

/// The service `tfplugin6.Provider`.
#[derive(Debug)]
pub(crate) struct Provider<P> {
    pub(crate) plugin: Arc<P>,
    pub(crate) in_flight: Arc<AtomicUsize>,
}

impl<P> Clone for Provider<P> {
    fn clone(&self) -> Self {
        Self { plugin: self.plugin.clone(), in_flight: self.in_flight.clone() }
    }
}

impl<P> NamedService for Provider<P> {
    const NAME: &'static str = "tfplugin6.Provider";
}

impl<P: Plugin> Service<Raw> for Provider<P> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, raw: Raw) -> Answer {
        let method = raw.uri().path().rsplit('/').next().unwrap_or_default();
        match method {
            "GetProviderSchema" => self.unary(raw, P::schema),
            "ValidateProviderConfig" => self.unary(raw, validate_provider),
            "ValidateResourceConfig" | "ValidateDataResourceConfig" => self.unary(raw, P::validate),
            "ConfigureProvider" => self.unary(raw, P::configure),
            "UpgradeResourceState" => self.unary(raw, P::upgrade),
            "ReadResource" => self.unary(raw, P::read),
            "PlanResourceChange" => self.unary(raw, P::plan),
            "ApplyResourceChange" => self.unary(raw, P::apply),
            "ImportResourceState" => self.unary(raw, P::import),
            "ReadDataSource" => self.unary(raw, P::read_data),
            "StopProvider" => self.unary(raw, stop),
            _ => unimplemented(),
        }
    }
}

async fn validate_provider<P>(_: Arc<P>, _: ValidateProviderRequest) -> ValidateProviderResponse {
    ValidateProviderResponse::default()
}

async fn stop<P: Plugin>(plugin: Arc<P>, _: Empty) -> StopResponse {
    plugin.interrupt();
    StopResponse::default()
}

impl<P: Plugin> Provider<P> {
    fn unary<Q, A, C, F>(&self, raw: Raw, call: C) -> Answer
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
        C: Fn(Arc<P>, Q) -> F + Send + Sync + 'static,
        F: Future<Output = A> + Send + 'static,
    {
        let Self { plugin, in_flight } = self.clone();
        let service = tower::service_fn(move |request: Request<Q>| {
            let answer = tokio::spawn(counted(in_flight.clone(), call(plugin.clone(), request.into_inner())));
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
    let response = Status::unimplemented("the provider does not know this method").into_http();
    Box::pin(std::future::ready(Ok(response)))
}
