//! What the slash command `/yuba` asks, and what it is answered. Answers are seen by whoever asked, and by nobody else.

use super::text::Mrkdwn;
use crate::run::Run;
use crate::stack::Stack;

/// How many stacks are listed.
const MOST_STACKS: usize = 40;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// How one stack stands, or all.
    Status(Option<String>),
    /// The last runs of a stack.
    Runs(String),
    /// The plan that a stack's current or last run made.
    Plan(String),
    /// Anything else: what there is to ask.
    Help,
}

impl Question {
    /// What follows the command's name.
    pub fn read(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["status"] => Self::Status(None),
            ["status", stack] => Self::Status(Some((*stack).to_owned())),
            ["runs", stack] => Self::Runs((*stack).to_owned()),
            ["plan", stack] => Self::Plan((*stack).to_owned()),
            _ => Self::Help,
        }
    }
}

/// What can be asked.
pub fn help() -> Mrkdwn {
    let lines = ["`/yuba status [STACK]`", "`/yuba runs STACK`", "`/yuba plan STACK`"];
    lines
        .iter()
        .fold(Mrkdwn::of("Ask for one of:"), |text, line| text.next_line().code(line.trim_matches('`')))
}

/// How stacks stand, those that are not ready first.
pub fn status(stacks: &[Stack]) -> Mrkdwn {
    let mut sorted: Vec<&Stack> = stacks.iter().collect();
    sorted.sort_by_key(|stack| (stack.shown.ready != crate::stack::Ready::False, stack.name.clone()));
    let line = |stack: &&Stack| {
        let status = stack.shown.status.lines().next().unwrap_or_default();
        Mrkdwn::default().bold(&stack.name.to_string()).plain(" ").plain(status)
    };
    let lines: Vec<Mrkdwn> = sorted.iter().take(MOST_STACKS).map(line).collect();
    let beyond = sorted.len() - lines.len();
    if lines.is_empty() {
        return Mrkdwn::of("There are no stacks.");
    }
    let text = Mrkdwn::default().lines(&lines, |left| format!("and {} more", left + beyond));
    if beyond == 0 { text } else { text.next_line().plain(&format!("and {beyond} more")) }
}

/// The last runs of a stack, newest first.
pub fn runs(stack: &Stack, runs: &[Run]) -> Mrkdwn {
    let line = |run: &Run| {
        let because = run.because.first().map(ToString::to_string).unwrap_or_default();
        let text = Mrkdwn::default().plain(&format!("{} ", run.number)).bold(&run.state.to_string());
        text.plain(" ").code(&run.revision.plan_id().to_string()).plain(&format!(" {because}"))
    };
    let lines: Vec<Mrkdwn> = runs.iter().map(line).collect();
    let title = Mrkdwn::of("Runs of ").bold(&stack.name.to_string());
    title.lines(&lines, |left| format!("and {left} more"))
}

/// The plan of a run.
pub fn plan(run: &Run) -> Mrkdwn {
    let title = Mrkdwn::of(&format!("Run {} of ", run.number)).bold(&run.name.to_string());
    let title = title.plain(" is ").bold(&run.state.to_string());
    let Some(plan) = &run.plan else { return title.plain("; it has no plan") };
    let exact = format!("{}@{}", plan.report.plan_id, plan.report.content.short());
    title.next_line().code(&exact).plain(" ").plain(&plan.report.counts.sentence())
}
