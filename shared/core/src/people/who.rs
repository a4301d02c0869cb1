//! Unites the names of one human over all teams.

use std::collections::BTreeSet;

use super::{Identity, Member, Team};
use crate::id::ObjectName;

/// One human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// What people call them.
    pub name: String,
    /// Every name under which services know them; never empty. The first of them stands for the human: two people who
    /// have one name in common are one.
    pub identities: BTreeSet<Identity>,
    /// The teams that they belong to.
    pub teams: BTreeSet<ObjectName>,
}

impl Person {
    /// Whether this is the same human.
    pub fn is(&self, other: &Self) -> bool {
        !self.identities.is_disjoint(&other.identities)
    }
}

/// The human whom a name means, if a team knows it. Members that share a name are one human, in whichever teams they
/// stand, and so are those whom such a member joins.
pub fn who(teams: &[Team], identity: &Identity) -> Option<Person> {
    let members = || teams.iter().flat_map(|team| team.members.iter().map(move |member| (team, member)));
    let mut identities = BTreeSet::from([identity.clone()]);
    let mut known = 0;
    while known != identities.len() {
        known = identities.len();
        let own = members().filter(|(_, member)| shares(member, &identities));
        let united: Vec<Identity> = own.flat_map(|(_, member)| member.identities.iter().cloned()).collect();
        identities.extend(united);
    }
    let own: Vec<(&Team, &Member)> = members().filter(|(_, member)| shares(member, &identities)).collect();
    let called = own.iter().find_map(|(_, member)| member.name.clone());
    let name = called.or_else(|| identities.first().map(ToString::to_string))?;
    let teams: BTreeSet<ObjectName> = own.into_iter().map(|(team, _)| team.name.clone()).collect();
    (!teams.is_empty()).then_some(Person { name, identities, teams })
}

fn shares(member: &Member, identities: &BTreeSet<Identity>) -> bool {
    !member.identities.is_disjoint(identities)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::ManifestSetName;

    fn team(name: &str, members: &[(&str, &[Identity])]) -> Team {
        let member = |(name, identities): &(&str, &[Identity])| Member {
            name: Some((*name).to_owned()).filter(|name| !name.is_empty()),
            identities: identities.iter().cloned().collect(),
        };
        Team {
            name: ObjectName::new("infra", name),
            set: ManifestSetName("flux".to_owned()),
            snapshot: 1,
            place: "teams.yaml:1".to_owned(),
            members: members.iter().map(member).collect(),
        }
    }

    #[test]
    fn names_of_one_human_are_united_over_teams() {
        let (mail, login) = (Identity::email("ada@example.com"), Identity::login("github", "ada"));
        let teams = [
            team("platform", &[("Ada", &[mail.clone(), login.clone()])]),
            team("security", &[("", &[Identity::slack("U1"), login.clone()])]),
            team("web", &[("Bob", &[Identity::slack("U2")])]),
        ];
        let by_slack = who(&teams, &Identity::slack("U1")).unwrap();
        assert_eq!(by_slack.name, "Ada");
        assert_eq!(by_slack.teams.len(), 2);
        assert_eq!(Some(&by_slack), who(&teams, &mail).as_ref());
        assert!(!by_slack.is(&who(&teams, &Identity::slack("U2")).unwrap()));
        assert_eq!(who(&teams, &Identity::slack("U3")), None);
    }

    #[test]
    fn somebody_without_a_name_is_called_by_the_first_of_their_identities() {
        let teams = [team("platform", &[("", &[Identity::slack("U1"), Identity::email("ada@example.com")])])];
        assert_eq!(who(&teams, &Identity::slack("U1")).unwrap().name, "ada@example.com");
    }

    /// Teams over a few names, so that they often share some.
    fn teams() -> impl Strategy<Value = Vec<Vec<BTreeSet<u8>>>> {
        let member = proptest::collection::btree_set(0_u8..12, 1..4);
        proptest::collection::vec(proptest::collection::vec(member, 0..5), 0..4)
    }

    fn named(number: u8) -> Identity {
        Identity::slack(&format!("U{number}"))
    }

    /// Which names belong together, worked out another way: every name points to the least one it is joined with.
    fn least(teams: &[Vec<BTreeSet<u8>>]) -> Vec<u8> {
        let members = (0..12).flat_map(|_| teams.iter().flatten());
        members.fold((0..12).collect(), |least, member| joined(&least, member))
    }

    fn joined(least: &[u8], member: &BTreeSet<u8>) -> Vec<u8> {
        let of = |name: u8| least[usize::from(name)];
        let lowest = member.iter().map(|name| of(*name)).min().unwrap();
        (0..12).map(|name| if member.contains(&name) { lowest } else { of(name) }).collect()
    }

    proptest! {
        #[test]
        fn two_names_are_one_human_where_members_join_them_and_nowhere_else(
            given in teams(), one in 0_u8..12, other in 0_u8..12,
        ) {
            let made: Vec<Team> = given.iter().enumerate().map(|(index, members)| Team {
                members: members.iter().map(|names| Member {
                    name: None,
                    identities: names.iter().map(|name| named(*name)).collect(),
                }).collect(),
                ..team(&format!("t{index}"), &[])
            }).collect();
            let (first, second) = (who(&made, &named(one)), who(&made, &named(other)));
            let known = |name: u8| given.iter().flatten().any(|member| member.contains(&name));
            prop_assert_eq!(first.is_some(), known(one));
            if let (Some(first), Some(second)) = (first, second) {
                let least = least(&given);
                let same = least[usize::from(one)] == least[usize::from(other)];
                prop_assert_eq!(first.is(&second), same);
                prop_assert_eq!(first == second, same);
            }
        }
    }
}
