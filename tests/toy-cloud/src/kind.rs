//! The kinds of resources that the toy cloud knows, as one table: schema, planning and storage all read it.

/// One kind of resource.
#[derive(Debug)]
pub struct Kind {
    /// As written in code, such as `toy_network`.
    pub type_name: &'static str,
    /// What ids of this kind start with; an id is `<prefix>-<name>`.
    pub prefix: &'static str,
    /// The attributes beside those that every kind has.
    pub own: &'static [Attribute],
    /// Nested blocks, any number of each, kept in order.
    pub blocks: &'static [Block],
}

/// One attribute of a kind or of a block.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    /// As written in code.
    pub name: &'static str,
    /// What values it takes.
    pub ty: Type,
    /// Who sets it.
    pub mode: Mode,
    /// What a change of it does.
    pub effect: Effect,
    /// Whether people may see it.
    pub visibility: Visibility,
    /// Where its value is kept.
    pub keeping: Keeping,
}

/// A nested block, such as `rule`.
#[derive(Debug)]
pub struct Block {
    /// As written in code.
    pub name: &'static str,
    /// Its attributes; each is set by a person.
    pub attributes: &'static [Attribute],
}

/// What values an attribute takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `string`
    String,
    /// `number`
    Number,
    /// `bool`
    Bool,
    /// `list(string)`
    Strings,
    /// `map(string)`
    StringMap,
    /// `map(number)`
    NumberMap,
}

/// Who sets an attribute.
#[derive(Debug, Clone, Copy)]
pub enum Mode {
    /// The code must.
    Required,
    /// The code may.
    Optional,
    /// The code may; else it has this value.
    Defaulted(Literal),
    /// The cloud, when the resource is made; unknown until then.
    Computed,
}

/// The value of an attribute that the code leaves out.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// A string.
    Text(&'static str),
    /// A whole number.
    Whole(i64),
}

/// What a change of an attribute does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The resource is changed in place.
    Updates,
    /// The resource is destroyed and made anew.
    Replaces,
}

/// Whether people may see an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// They may.
    Plain,
    /// Masked by tofu and terraform.
    Sensitive,
}

/// Where an attribute's value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// In the resource's file, so that it can drift.
    InCloud,
    /// In the state alone: how the cloud is to misbehave.
    InState,
}

impl Attribute {
    const fn new(name: &'static str, ty: Type, mode: Mode) -> Self {
        Self {
            name,
            ty,
            mode,
            effect: Effect::Updates,
            visibility: Visibility::Plain,
            keeping: Keeping::InCloud,
        }
    }

    const fn required(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Mode::Required)
    }

    const fn optional(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Mode::Optional)
    }

    const fn computed(name: &'static str) -> Self {
        Self::new(name, Type::String, Mode::Computed)
    }

    const fn defaulted(name: &'static str, ty: Type, literal: Literal) -> Self {
        Self::new(name, ty, Mode::Defaulted(literal))
    }

    const fn replacing(mut self) -> Self {
        self.effect = Effect::Replaces;
        self
    }

    const fn sensitive(mut self) -> Self {
        self.visibility = Visibility::Sensitive;
        self
    }

    const fn in_state(mut self) -> Self {
        self.keeping = Keeping::InState;
        self
    }
}

impl Kind {
    /// All attributes, those that every kind has first.
    pub fn attributes(&self) -> impl Iterator<Item = &'static Attribute> {
        COMMON.iter().chain(self.own)
    }

    /// The id of the resource of this name.
    pub fn id(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// The name of the resource of this id; the id itself where it is no id of this kind.
    pub fn name<'a>(&self, id: &'a str) -> &'a str {
        id.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('-')).unwrap_or(id)
    }
}

/// The kind of this type name.
pub fn kind(type_name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.type_name == type_name)
}

const COMMON: &[Attribute] = &[
    Attribute::required("name", Type::String).replacing(),
    Attribute::optional("tags", Type::StringMap),
    Attribute::computed("id"),
    Attribute::computed("arn"),
    Attribute::optional("latency_ms", Type::NumberMap).in_state(),
    Attribute::optional("fail", Type::StringMap).in_state(),
];

/// Every kind of resource that the toy cloud knows.
pub const KINDS: &[Kind] = &[
    Kind {
        type_name: "toy_network",
        prefix: "net",
        own: &[
            Attribute::required("cidr", Type::String).replacing(),
            Attribute::optional("description", Type::String),
        ],
        blocks: &[],
    },
    Kind {
        type_name: "toy_bucket",
        prefix: "bucket",
        own: &[
            Attribute::defaulted("region", Type::String, Literal::Text("eu-1")).replacing(),
            Attribute::optional("versioning", Type::Bool),
            Attribute::optional("policy", Type::String),
            Attribute::computed("domain"),
        ],
        blocks: &[],
    },
    Kind {
        type_name: "toy_database",
        prefix: "db",
        own: &[
            Attribute::required("engine", Type::String).replacing(),
            Attribute::defaulted("size_gb", Type::Number, Literal::Whole(10)),
            Attribute::optional("network_id", Type::String),
            Attribute::optional("admin_password", Type::String).sensitive(),
            Attribute::computed("endpoint"),
            Attribute::computed("password").sensitive(),
        ],
        blocks: &[],
    },
    Kind {
        type_name: "toy_security_group",
        prefix: "sg",
        own: &[Attribute::optional("network_id", Type::String).replacing()],
        blocks: &[Block {
            name: "rule",
            attributes: &[
                Attribute::required("name", Type::String),
                Attribute::required("port", Type::Number),
                Attribute::required("cidr", Type::String),
            ],
        }],
    },
    Kind {
        type_name: "toy_instance",
        prefix: "i",
        own: &[
            Attribute::required("image", Type::String).replacing(),
            Attribute::defaulted("size", Type::String, Literal::Text("small")),
            Attribute::optional("network_id", Type::String),
            Attribute::optional("security_group_ids", Type::Strings),
            Attribute::optional("user_data", Type::String),
            Attribute::computed("private_ip"),
        ],
        blocks: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn an_id_is_made_of_the_name_and_gives_it_back() {
        let network = kind("toy_network").expect("a kind");
        assert_eq!(network.id("main"), "net-main");
        assert_eq!(network.name("net-main"), "main");
        assert_eq!(network.name("elsewhere"), "elsewhere");
    }
}
