//! The notifier on AWS Lambda, fed by the queue of notices.

use std::process::ExitCode;
use std::sync::Arc;

use yuba_aws::lambda::{self, Metrics, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::message::Message;
use yuba_http::{PrivateAddresses, WebClient, access_keys};
use yuba_notifier::{Buttons, NotifierSettings};
use yuba_ports::{PortError, Ports, QueueName};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[Port::Blobs, Port::Secrets]);
    let private = "whether addresses outside the public network are reached, `refused` or `allowed`";
    let private = variables.optional("YUBA_PRIVATE_ADDRESSES", private, str::parse::<PrivateAddresses>);
    let web = "where people reach the pages, which messages link to: https://…";
    let web = variables.optional("YUBA_WEB_URL", web, web_url);
    let buttons = "whether messages in Slack have buttons, `shown` or `hidden`";
    let buttons = variables.optional("YUBA_SLACK_BUTTONS", buttons, read_buttons);
    let endpoint = "where AWS' services are reached: https://…";
    let aws_endpoint = variables.optional("AWS_ENDPOINT_URL", endpoint, web_url);
    let key = "the keys that AWS Lambda gives each function";
    let text = |text: &str| Ok::<_, String>(text.to_owned());
    let keys = access_keys(|name| variables.optional(name, key, text));
    let ports = variables.finish(ports)?;

    let http = WebClient::new(private.unwrap_or(PrivateAddresses::Refused))?;
    let http = Arc::new(http.signing_with(keys));
    let buttons = buttons.unwrap_or(Buttons::Hidden);
    let settings = NotifierSettings { http, web, buttons, aws_endpoint };
    let (ports, work) = ports.open_for(&connect().await, QueueName::Notices).await?;
    let metrics = Metrics::new(&ports.installation, "notifier");
    let handle = |messages| Box::pin(handle(&ports, &settings, messages));
    lambda::messages((&work, &metrics), usize::MAX, handle).await
}

fn web_url(text: &str) -> Result<String, String> {
    let is_url = text.starts_with("https://") || text.starts_with("http://");
    is_url.then(|| text.trim_end_matches('/').to_owned()).ok_or_else(|| format!("`{text}` is no URL"))
}

fn read_buttons(text: &str) -> Result<Buttons, String> {
    match text {
        "shown" => Ok(Buttons::Shown),
        "hidden" => Ok(Buttons::Hidden),
        other => Err(format!("`{other}` is neither `shown` nor `hidden`")),
    }
}

async fn handle(ports: &Ports, settings: &NotifierSettings, messages: Vec<Message>) -> Result<(), PortError> {
    for report in yuba_notifier::handle(ports, settings, &messages).await?.report {
        tracing::info!(%report, "told");
    }
    Ok(())
}
