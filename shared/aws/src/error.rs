//! What may mend an error of AWS: the one place where that is decided.

use std::error::Error;
use std::fmt::Display;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use yuba_ports::{PortError, Remedy};

/// Codes by which services say "not now", whatever the HTTP status.
const PASSING: [&str; 29] = [
    "BandwidthLimitExceeded",
    "ConditionalRequestConflict",
    "ExpiredToken",
    "ExpiredTokenException",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "KMSInternalException",
    "KMSThrottling",
    "KMSThrottlingException",
    "KmsThrottled",
    "OperationAborted",
    "OverLimit",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "ReplicatedWriteConflictException",
    "RequestExpired",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestTimeout",
    "RequestTimeoutException",
    "SlowDown",
    "Throttling",
    "ThrottledException",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionConflictException",
    "TransactionInProgressException",
];

/// What was seen of a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    /// It could not be built.
    Unbuilt,
    /// No whole answer came; whether it was carried out is not known.
    Unanswered,
    /// The service refused it.
    Refused {
        /// The service's word for why.
        code: &'a str,
        /// The HTTP status.
        status: u16,
    },
}

impl<'a> Seen<'a> {
    /// What was seen, by the SDK's error.
    pub(crate) fn of<E: ProvideErrorMetadata>(error: &'a SdkError<E>) -> Self {
        match error {
            SdkError::ConstructionFailure(_) => Self::Unbuilt,
            SdkError::ServiceError(refused) => Self::Refused {
                code: refused.err().code().unwrap_or("no code"),
                status: refused.raw().status().as_u16(),
            },
            _ => Self::Unanswered,
        }
    }

    /// What may mend it.
    pub(crate) fn remedy(self) -> Remedy {
        let may_pass = match self {
            Self::Unbuilt => false,
            Self::Unanswered => true,
            Self::Refused { code, status } => status >= 500 || status == 429 || PASSING.contains(&code),
        };
        if may_pass { Remedy::Transient } else { Remedy::Permanent }
    }
}

/// The port's error for a request that failed; `what` says what was tried, and on what.
pub(crate) fn port_error<E>(what: impl Display, error: SdkError<E>) -> PortError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    let seen = Seen::of(&error);
    let remedy = seen.remedy();
    let (what, source) = match seen {
        Seen::Refused { code, .. } => {
            (format!("{what}: {code}: {}", error.message().unwrap_or("no reason was given")), None)
        }
        Seen::Unanswered => (format!("{what}: AWS gave no answer"), Some(error)),
        Seen::Unbuilt => (format!("{what}: the request could not be built"), Some(error)),
    };
    PortError { what, remedy, source: source.map(Into::into) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_mend_an_error_is_told_by_code_and_status() {
        let refused = |code, status| Seen::Refused { code, status };
        for (seen, expected) in [
            (Seen::Unbuilt, Remedy::Permanent),
            (Seen::Unanswered, Remedy::Transient),
            (refused("ThrottlingException", 400), Remedy::Transient),
            (refused("ProvisionedThroughputExceededException", 400), Remedy::Transient),
            (refused("TransactionInProgressException", 400), Remedy::Transient),
            (refused("ExpiredTokenException", 400), Remedy::Transient),
            (refused("SlowDown", 503), Remedy::Transient),
            (refused("AnythingAtAll", 500), Remedy::Transient),
            (refused("AnythingAtAll", 429), Remedy::Transient),
            (refused("AccessDeniedException", 400), Remedy::Permanent),
            (refused("AccessDenied", 403), Remedy::Permanent),
            (refused("ValidationException", 400), Remedy::Permanent),
            (refused("ResourceNotFoundException", 400), Remedy::Permanent),
            (refused("UnrecognizedClientException", 400), Remedy::Permanent),
            (refused("no code", 404), Remedy::Permanent),
        ] {
            assert_eq!(seen.remedy(), expected, "{seen:?}");
        }
    }

    #[test]
    fn codes_are_listed_once_each() {
        let mut codes = PASSING.to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), PASSING.len());
    }
}
