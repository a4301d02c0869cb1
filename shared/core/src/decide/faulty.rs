//! Documents that are faulty or gone: the stack's last good version stays in force, and says so.

use super::draft::Draft;
use crate::event::EventKind;

impl Draft {
    /// Publishes that the stack's document is faulty, or right again.
    pub(super) fn notice_faulty_manifest(&mut self) {
        let why = self.faulty_manifest().map(str::to_owned);
        if self.stack.held_back == why {
            return;
        }
        match &why {
            Some(why) => {
                let message = format!("Its manifest is faulty; its last good version stays in force: {why}");
                self.publish(EventKind::ManifestFaulty, message);
            }
            None => self.publish(EventKind::ManifestMended, "Its manifest is right again."),
        }
        self.stack.held_back = why;
    }

    /// Publishes that the manifests name the stack no more.
    pub(super) fn notice_vanished_manifest(&mut self) {
        let since = self.definition.as_ref().and_then(|definition| definition.vanished);
        if since.is_some() && self.stack.vanished.is_none() {
            let message = "The manifests name it no more. Nothing of it was destroyed: bring it back, or `yuba destroy`.";
            self.publish(EventKind::StackVanished, message);
        }
        self.stack.vanished = since;
    }

    /// What is wrong with the stack's document as it stands now.
    pub(super) fn faulty_manifest(&self) -> Option<&str> {
        let definition = self.definition.as_ref().filter(|definition| definition.vanished.is_none())?;
        definition.held_back.as_deref()
    }
}
