//! What one configuration file says about other paths. Depends on the file's bytes and dialect alone, so that it is
//! worked out once per blob, whatever directories the blob lies in.

use hcl_edit::expr::{Expression, FuncCall, TraversalOperator};
use hcl_edit::template::{Element, Template};
use serde::{Deserialize, Serialize};

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileFacts {
    /// Local modules it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<Call>,
    /// Paths it reads or mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<Read>,
    /// Why it does not parse: line and reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<(usize, String)>,
}

impl FileFacts {
    /// Whether the file says nothing about other paths.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a read, unless the same path is read already.
    pub(super) fn add_read(&mut self, read: Read) {
        if !self.reads.iter().any(|known| (known.base, &known.path) == (read.base, &read.path)) {
            self.reads.push(read);
        }
    }

    /// Adds the module call of a `source`, where that is local.
    pub(super) fn add_call(&mut self, source: &PathText) {
        let local =
            source.base.is_none() && (source.text.starts_with("./") || source.text.starts_with("../"));
        if local {
            self.calls.push(Call { source: source.text.clone(), literal: source.literal });
        }
    }
}

/// A `module` block whose source is local.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    /// The source as written, up to where it stops being literal.
    pub(super) source: String,
    /// Whether that is all of it.
    pub(super) literal: bool,
}

/// What a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Base {
    /// `path.module`: the directory of the file.
    Module,
    /// `path.root`, `path.cwd`, or nothing: the stack's directory, in which tofu runs.
    Root,
}

/// A path that a file reads or mentions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) base: Base,
    /// The path as written, up to where it stops being literal.
    pub(super) path: String,
    /// Whether that is all of it; else the enclosing directory is read.
    pub(super) literal: bool,
    /// The function that reads it; none where it is only mentioned (and may be written rather than read).
    pub(super) function: Option<String>,
}

impl Read {
    /// The path, relative to its base; the directory around where it stops being literal.
    pub(super) fn place(&self) -> &str {
        enclosing(&self.path, self.literal).trim_start_matches('/')
    }

    /// Whether tofu fails where the path is missing.
    pub(super) fn must_exist(&self) -> bool {
        let optional = matches!(self.function.as_deref(), None | Some("fileset" | "fileexists"));
        self.literal && !optional
    }
}

/// The path up to where it stops being literal, cut to the directory around that.
pub(super) fn enclosing(path: &str, literal: bool) -> &str {
    if literal { path } else { path.rsplit_once('/').map_or("", |(directory, _)| directory) }
}

/// The beginning of a path expression, as far as it is literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathText {
    pub(super) base: Option<Base>,
    pub(super) text: String,
    pub(super) literal: bool,
}

/// Functions whose first argument is a path that they read.
/// <https://opentofu.org/docs/language/functions/> (filesystem functions and the hashes of files).
const READERS: [&str; 13] = [
    "file",
    "fileexists",
    "fileset",
    "filebase64",
    "templatefile",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "filebase64sha256",
    "filebase64sha512",
    "filebase64sha1",
    "filebase64md5",
];

/// What a call of a function reads; none where it reads no file.
pub(super) fn read_by(call: &FuncCall) -> Option<Read> {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() || !READERS.contains(&name) {
        return None;
    }
    let argument = call.args.iter().next()?;
    let mut path = path_of(argument).unwrap_or_else(|| PathText {
        base: Some(mentioned_base(argument)),
        text: String::new(),
        literal: false,
    });
    if name == "fileset" {
        path = within(path, call.args.iter().nth(1));
    }
    if path.base.is_none() && path.text.starts_with(['/', '~']) {
        // Of the machine that tofu runs on, not of the repository.
        return None;
    }
    let base = path.base.unwrap_or(Base::Root);
    Some(Read { base, path: path.text, literal: path.literal, function: Some(name.to_owned()) })
}

/// The directory that a pattern of `fileset` cannot leave.
fn within(directory: PathText, pattern: Option<&Expression>) -> PathText {
    let Some(PathText { base: None, text: pattern, .. }) = pattern.and_then(path_of) else {
        return directory;
    };
    if !directory.literal {
        return directory;
    }
    let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let Some((folder, _)) = fixed.rsplit_once('/') else { return directory };
    PathText { text: format!("{}/{folder}", directory.text), ..directory }
}

/// The path that a file mentions in a string: one below `path.module` or `path.root`, or one that begins with a dot.
pub(super) fn mentioned(path: &PathText) -> Option<Read> {
    let dotted = path.base.is_none() && (path.text.starts_with("./") || path.text.starts_with("../"));
    let below = path.base.is_some() && path.text.starts_with('/') && path.text.len() > 1;
    let base = path.base.unwrap_or(Base::Root);
    (dotted || below).then(|| Read { base, path: path.text.clone(), literal: path.literal, function: None })
}

/// An expression as a path, as far as it is literal. None where not even its beginning is.
pub(super) fn path_of(expression: &Expression) -> Option<PathText> {
    match expression {
        Expression::String(text) => {
            Some(PathText { base: None, text: text.as_str().to_owned(), literal: true })
        }
        Expression::StringTemplate(template) => path_of_elements(template.iter()),
        Expression::Parenthesis(inner) => path_of(inner.inner()),
        Expression::FuncCall(call) if matches!(call.name.name.as_str(), "abspath" | "pathexpand") => {
            call.args.iter().next().and_then(path_of)
        }
        other => Some(PathText { base: Some(base_of(other)?), text: String::new(), literal: true }),
    }
}

/// The path that a whole template makes.
pub(super) fn path_of_template(template: &Template) -> Option<PathText> {
    path_of_elements(template.iter())
}

fn path_of_elements<'a>(elements: impl Iterator<Item = &'a Element>) -> Option<PathText> {
    let mut path: Option<PathText> = None;
    for element in elements {
        match (element, &mut path) {
            (Element::Literal(text), Some(path)) => path.text.push_str(text.as_str()),
            (Element::Literal(text), None) => {
                path = Some(PathText { base: None, text: text.as_str().to_owned(), literal: true });
            }
            (Element::Interpolation(inner), None) => path = Some(path_of(&inner.expr)?),
            (Element::Interpolation(_) | Element::Directive(_), Some(path)) => {
                path.literal = false;
                break;
            }
            (Element::Directive(_), None) => return None,
        }
    }
    path
}

/// `path.module`, `path.root`, `path.cwd`.
fn base_of(expression: &Expression) -> Option<Base> {
    let Expression::Traversal(traversal) = expression else { return None };
    let is_path = traversal.expr.as_variable().is_some_and(|name| name.as_str() == "path");
    let [operator] = traversal.operators.as_slice() else { return None };
    let TraversalOperator::GetAttr(attribute) = operator.value() else { return None };
    match attribute.as_str() {
        "module" if is_path => Some(Base::Module),
        "root" | "cwd" if is_path => Some(Base::Root),
        _ => None,
    }
}

/// What an expression that is no literal path starts from, as far as that can be seen.
fn mentioned_base(expression: &Expression) -> Base {
    let module = expression.to_string().contains("path.module");
    if module { Base::Module } else { Base::Root }
}
