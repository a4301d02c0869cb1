//! The main job, through real binaries. One program, so that it is linked once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approval;
mod artifacts;
mod bounds;
mod changes;
mod crash;
mod drift;
mod faults;
mod full_disk;
mod hosts;
mod inputs;
mod isolation;
mod local_drift;
mod notify;
mod people;
mod providers;
mod recovery;
mod states;
mod wrong_input;

/// A network of this name; its description is what tests change.
fn network(name: &str, description: &str) -> String {
    format!(
        "resource \"toy_network\" \"this\" {{
  name        = \"{name}\"
  cidr        = \"10.0.0.0/16\"
  description = \"{description}\"
}}

output \"network_id\" {{
  value = toy_network.this.id
}}
"
    )
}
