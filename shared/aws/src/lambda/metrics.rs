//! Metrics, as lines of the log that CloudWatch takes values from.
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>

use std::io::Write;

use serde_json::{Map, Value, json};
use yuba_core::id::InstallationId;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Clock;

use super::clock::SystemClock;

/// Where they are found in CloudWatch.
const NAMESPACE: &str = "Yuba";

/// A value that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The value.
    pub value: f64,
}

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Time.
    Milliseconds,
}

/// Metrics of one function.
#[derive(Debug, Clone)]
pub struct Metrics {
    installation: InstallationId,
    function: &'static str,
}

impl Metric {
    /// How many there are.
    pub fn count(name: &'static str, count: usize) -> Self {
        Self { name, unit: Unit::Count, value: f64::from(u32::try_from(count).unwrap_or(u32::MAX)) }
    }

    /// How long something took or has waited.
    #[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
    pub fn time(name: &'static str, span: Span) -> Self {
        Self { name, unit: Unit::Milliseconds, value: span.0 as f64 }
    }
}

impl Unit {
    fn as_str(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
        }
    }
}

impl Metrics {
    /// Metrics of a function of an installation.
    pub fn new(installation: &InstallationId, function: &'static str) -> Self {
        Self { installation: installation.clone(), function }
    }

    /// Writes values down. What cannot be written is lost.
    pub fn put(&self, metrics: &[Metric]) {
        if !metrics.is_empty() {
            let mut line = self.line(SystemClock.now(), metrics);
            line.push('\n');
            let _ = std::io::stdout().write_all(line.as_bytes());
        }
    }

    fn line(&self, at: Timestamp, metrics: &[Metric]) -> String {
        let described =
            metrics.iter().map(|metric| json!({ "Name": metric.name, "Unit": metric.unit.as_str() }));
        let about = json!({
            "Timestamp": at.0,
            "CloudWatchMetrics": [{
                "Namespace": NAMESPACE,
                "Dimensions": [["Installation", "Function"]],
                "Metrics": described.collect::<Vec<_>>(),
            }],
        });
        let mut line = Map::from_iter([
            ("_aws".to_owned(), about),
            ("Installation".to_owned(), json!(self.installation)),
            ("Function".to_owned(), json!(self.function)),
        ]);
        line.extend(metrics.iter().map(|metric| (metric.name.to_owned(), json!(metric.value))));
        Value::Object(line).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_values_and_says_what_they_are() {
        let metrics = Metrics::new(&InstallationId("prod".to_owned()), "scheduler");
        let values = [Metric::count("Woken", 3), Metric::time("OldestDueItem", Span::seconds(90))];
        let line: Value = serde_json::from_str(&metrics.line(Timestamp(1_767_225_600_000), &values)).unwrap();
        let expected = json!({
            "_aws": {
                "Timestamp": 1_767_225_600_000_i64,
                "CloudWatchMetrics": [{
                    "Namespace": "Yuba",
                    "Dimensions": [["Installation", "Function"]],
                    "Metrics": [
                        { "Name": "Woken", "Unit": "Count" },
                        { "Name": "OldestDueItem", "Unit": "Milliseconds" },
                    ],
                }],
            },
            "Installation": "prod",
            "Function": "scheduler",
            "Woken": 3.0,
            "OldestDueItem": 90_000.0,
        });
        assert_eq!(line, expected);
    }
}
