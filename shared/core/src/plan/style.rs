//! Colours and symbols of actions, as the engines use them.

use super::summary::Action;

/// Whether text carries colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Styles {
    /// None: `NO_COLOR`, a file, a pipe.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// How one action is painted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    styles: Styles,
    colour: u8,
    symbol: &'static str,
}

impl Paint {
    pub(crate) fn of(styles: Styles, action: &Action) -> Self {
        let (symbol, colour) = match action {
            Action::NoOp => (" ", 0),
            Action::Create => ("+", 32),
            Action::Read => ("<=", 36),
            Action::Update => ("~", 33),
            Action::Delete => ("-", 31),
            Action::DeleteThenCreate => ("-/+", 31),
            Action::CreateThenDelete => ("+/-", 31),
            Action::ForgetThenCreate => ("./+", 31),
            Action::Forget => (".", 31),
            Action::Other(_) => ("?", 35),
        };
        Self { styles, colour, symbol }
    }

    /// The action's symbol in its colour.
    pub(crate) fn symbol(self) -> String {
        self.wrap(self.colour, self.symbol)
    }

    /// A text that stands out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap(1, text)
    }

    fn wrap(self, code: u8, text: &str) -> String {
        match self.styles {
            Styles::Plain => text.to_owned(),
            Styles::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}
