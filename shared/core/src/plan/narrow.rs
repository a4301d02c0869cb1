//! A part of a plan: what lies at or under an address.

use super::summary::{Action, LeftOut, PlanCounts, PlanSummary, ResourceChange};

/// How many addresses are named where none fits.
const MOST_NEAR: usize = 5;

/// Nothing of a plan lies at or under an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing in the plan is at or under `{address}`{}", hint(near))]
pub struct NothingThere {
    /// What was asked for.
    pub address: String,
    /// The addresses of the plan that are most alike; empty where the plan changes nothing.
    pub near: Vec<String>,
}

fn hint(near: &[String]) -> String {
    if near.is_empty() {
        "; it changes no resource".to_owned()
    } else {
        format!("; near are {}", near.join(", "))
    }
}

/// Whether `found` is the address that is asked for, or lies under it: `module.a` holds `module.a["x"].b.c`.
pub fn is_under(found: &str, asked: &str) -> bool {
    found.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl PlanSummary {
    /// The part at or under an address, with the counts of that part alone; outputs and checks belong to no address.
    pub fn narrowed(&self, address: &str) -> Result<Self, NothingThere> {
        let mut part = self.clone();
        part.changes.retain(|change| is_under(&change.address, address));
        part.drift.retain(|drift| is_under(&drift.address, address));
        part.invocations.retain(|invocation| is_under(invocation, address));
        if part.changes.is_empty() && part.drift.is_empty() && part.invocations.is_empty() {
            return Err(NothingThere { address: address.to_owned(), near: self.near(address) });
        }
        part.outputs.clear();
        part.failed_checks.clear();
        part.counts = counts(&part);
        part.has_changes = !part.changes.is_empty() || !part.invocations.is_empty();
        part.left_out = LeftOut { details: 0, ..self.left_out };
        Ok(part)
    }

    fn near(&self, address: &str) -> Vec<String> {
        let known = self.changes.iter().map(|change| &change.address);
        let mut known: Vec<&String> = known.chain(self.drift.iter().map(|drift| &drift.address)).collect();
        known.sort();
        known.dedup();
        known.sort_by_cached_key(|known| strsim::damerau_levenshtein(known, address));
        known.into_iter().take(MOST_NEAR).cloned().collect()
    }
}

fn counts(part: &PlanSummary) -> PlanCounts {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let of = |wanted: fn(&ResourceChange) -> bool| {
        number(part.changes.iter().filter(|change| wanted(change)).count())
    };
    PlanCounts {
        create: of(|change| matches!(change.action, Action::Create | Action::ForgetThenCreate)),
        update: of(|change| change.action == Action::Update),
        delete: of(|change| change.action == Action::Delete),
        replace: of(|change| matches!(change.action, Action::DeleteThenCreate | Action::CreateThenDelete)),
        forget: of(|change| matches!(change.action, Action::Forget | Action::ForgetThenCreate)),
        import: of(|change| change.imported.is_some()),
        moved: of(|change| change.moved_from.is_some()),
        read: of(|change| change.action == Action::Read),
        output: 0,
        drift: number(part.drift.len()),
        invoke: number(part.invocations.len()),
        other: of(|change| matches!(change.action, Action::Other(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"{"format_version":"1.2","resource_changes":[
        {"address":"module.a.t.r[0]","type":"t","change":{"actions":["create"],"before":null,"after":{}}},
        {"address":"module.ab.t.r","type":"t","change":{"actions":["delete"],"before":{},"after":null}}],
        "output_changes":{"o":{"actions":["update"],"before":1,"after":2}}}"#;

    #[test]
    fn a_part_has_the_counts_of_that_part() {
        let whole = crate::plan::read(PLAN.as_bytes()).unwrap().summary;
        let part = whole.narrowed("module.a").unwrap();
        assert_eq!(part.changes.len(), 1);
        assert_eq!(part.counts, PlanCounts { create: 1, ..PlanCounts::default() });
        assert_eq!(part.outputs, []);
    }

    #[test]
    fn an_address_that_is_not_there_is_told_with_those_near_it() {
        let whole = crate::plan::read(PLAN.as_bytes()).unwrap().summary;
        insta::assert_snapshot!(whole.narrowed("module.b").unwrap_err(), @"nothing in the plan is at or under `module.b`; near are module.ab.t.r, module.a.t.r[0]");
        assert!(is_under("module.a[\"x\"].b.c", "module.a") && !is_under("b.cd", "b.c"));
    }
}
