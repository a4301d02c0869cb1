#![doc = include_str!("../README.md")]

pub mod archive;

mod apply;
mod attempt;
mod backend;
mod classify;
mod code;
mod ended;
mod endpoint;
mod engine;
mod hide;
mod hosts;
mod inputs;
mod interrupt;
mod local_drift;
mod log;
mod objects;
mod package;
mod plan;
mod planfile;
mod prepare;
mod providers;
mod run;
mod server;
mod settings;
mod show;
mod standalone;
mod state;
mod user;
mod variables;
mod workspace;

pub use engine::descendants::Processes;
pub use local_drift::{LocalCheck, LocalCheckError, LocalDrift, check_local_drift};
pub use objects::OpenBucket;
pub use run::run;
pub use standalone::{EngineChoice, EngineOnPath, choose_engine, engines_on_path};
pub use user::isolation_of;
