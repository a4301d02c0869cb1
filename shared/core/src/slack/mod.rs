//! What Slack shows and sends: texts, blocks and buttons that cannot exceed Slack's limits, and cannot say anything
//! that Git or a plan made up.
//!
//! Limits as <https://api.slack.com/reference/block-kit/blocks> and `…/block-elements` state them. Slack speaks of
//! characters; counted are UTF-16 units, of which a text never has fewer.

pub mod answer;
pub mod api;
pub mod blocks;
pub mod button;
pub mod came;
pub mod card;
pub mod command;
pub mod modal;
pub mod payload;
pub mod text;
