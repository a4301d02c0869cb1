//! Counts in words.

use super::summary::PlanCounts;

impl PlanCounts {
    /// Resources that would be added, in the engines' words: created, or created anew in a replace.
    pub fn added(&self) -> u32 {
        self.create.saturating_add(self.replace)
    }

    /// Resources that would be destroyed, in the engines' words: deleted, also in a replace.
    pub fn destroyed(&self) -> u32 {
        self.delete.saturating_add(self.replace)
    }

    /// Steps that apply takes, one for each start and end it reports: a replace takes two.
    pub fn steps(&self) -> u32 {
        self.added().saturating_add(self.update).saturating_add(self.destroyed()).saturating_add(self.read)
    }

    /// `3 to add, 1 to change, 0 to destroy; 1 to import`: the engines' line, then what else there is. Where only
    /// other things would happen they stand alone: `2 outputs`.
    pub fn sentence(&self) -> String {
        let plan =
            format!("{} to add, {} to change, {} to destroy", self.added(), self.update, self.destroyed());
        let others = [
            (self.import, "to import"),
            (self.moved, "to move"),
            (self.forget, "to forget"),
            (self.read, "to read"),
            (self.invoke, "to invoke"),
            (self.other, "of an unknown action"),
            (self.output, if self.output == 1 { "output" } else { "outputs" }),
        ];
        let more: Vec<String> = others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match (self.added() + self.update + self.destroyed(), more.is_empty()) {
            (_, true) => plan,
            (0, false) => more.join(", "),
            (_, false) => format!("{plan}; {}", more.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_speaks_as_the_engines_do_and_names_what_they_leave_out() {
        let says = |counts: PlanCounts| counts.sentence();
        let none = PlanCounts::default();
        assert_eq!(says(none), "0 to add, 0 to change, 0 to destroy");
        assert_eq!(says(PlanCounts { replace: 1, create: 2, ..none }), "3 to add, 0 to change, 1 to destroy");
        let import = PlanCounts { create: 3, update: 1, import: 1, output: 1, ..none };
        assert_eq!(says(import), "3 to add, 1 to change, 0 to destroy; 1 to import, 1 output");
        assert_eq!(says(PlanCounts { moved: 2, ..none }), "2 to move");
    }
}
