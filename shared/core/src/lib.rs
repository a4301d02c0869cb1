#![doc = include_str!("../README.md")]

pub mod attempt;
pub mod effect;
pub mod event;
pub mod id;
pub mod job;
pub mod message;
pub mod plan;
pub mod record;
pub mod request;
pub mod run;
pub mod source;
pub mod spec;
pub mod stack;
pub mod task;
pub mod time;
pub mod token;
