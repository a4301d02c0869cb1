//! Who may ask the API for what: scopes, what each route and each request needs, and the tokens that carry scopes.

mod caller;
mod routes;
mod token;

pub use caller::{Caller, Denied, Scope, scope_of};
pub use routes::{Need, Reach, is_stated, need};
pub use token::{ApiToken, Lifetime, Presented, SECRET_BYTES, TOKENS, TokenName, TokenRefused, token_text};
