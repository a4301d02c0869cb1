//! The routes that need the token, each registered together with its description.

use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::routes::{
    audit, events, installation, log, manifests, plan, providers, queues, recovery, requests, runs, secrets,
    sources, stacks, tokens, why,
};
use crate::{Api, metrics};

#[derive(OpenApi)]
#[openapi(
    info(title = "Yuba", description = "Yuba turns Git into infrastructure."),
    modifiers(&Bearer),
    security(("token" = []))
)]
struct Description;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_with(Default::default);
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// The OpenAPI description of all routes below `/api/v1`, and of `/metrics`.
pub fn description() -> utoipa::openapi::OpenApi {
    protected().into_openapi()
}

pub(crate) fn protected() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(of_stacks())
        .merge(of_runs())
        .merge(of_notifications())
        .merge(of_the_installation())
}

fn of_stacks() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(stacks::list))
        .routes(routes!(stacks::detail, requests::patch))
        .routes(routes!(stacks::outputs))
        .routes(routes!(stacks::inventory))
        .routes(routes!(why::show))
        .routes(routes!(requests::ask))
        .routes(routes!(requests::show))
}

fn of_runs() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(runs::list))
        .routes(routes!(runs::detail))
        .routes(routes!(requests::cancel))
        .routes(routes!(recovery::show))
        .routes(routes!(requests::recover))
        .routes(routes!(plan::show))
        .routes(routes!(log::text))
        .routes(routes!(log::stream))
}

fn of_notifications() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(providers::list))
        .routes(routes!(providers::test))
        .routes(routes!(providers::tested))
        .routes(routes!(providers::redeliver))
}

fn of_the_installation() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(events::list))
        .routes(routes!(events::stream))
        .routes(routes!(audit::entries))
        .routes(routes!(audit::anchors))
        .routes(routes!(audit::heads))
        .routes(routes!(sources::list))
        .routes(routes!(manifests::list))
        .routes(routes!(installation::show))
        .routes(routes!(installation::pause))
        .routes(routes!(installation::unpause))
        .routes(routes!(queues::list))
        .routes(routes!(queues::redrive))
        .routes(routes!(secrets::list))
        .routes(routes!(secrets::set))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .routes(routes!(metrics::show))
}
