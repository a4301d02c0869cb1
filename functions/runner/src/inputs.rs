//! The inputs digest: everything but code, state and provider versions that can change a plan. Never approvePlan.

use std::path::PathBuf;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use yuba_core::dialect::binary;
use yuba_core::id::{FileDigest, InputsDigest};
use yuba_core::job::Job;
use yuba_core::spec::EngineTool;
use yuba_core::task::ResolvedValue;

use crate::ended::{Ended, Step};
use crate::workspace::Workspace;

/// The resolved inputs of a plan.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    /// The job.
    pub(crate) job: &'a Job,
    /// The values of `varsFrom`.
    pub(crate) values: &'a [ResolvedValue],
    /// Where the files lie.
    pub(crate) workspace: &'a Workspace,
    /// The files of `tfVarsFiles`.
    pub(crate) files: &'a [PathBuf],
    /// The engine.
    pub(crate) tool: EngineTool,
    /// Its version.
    pub(crate) version: &'a str,
    /// Key of the HMAC that hides secret values, hexadecimal.
    pub(crate) digest_key: &'a str,
}

impl Inputs<'_> {
    /// The digest.
    pub(crate) fn digest(&self) -> Step<InputsDigest> {
        let key = hex::decode(self.digest_key)
            .map_err(|_| Ended::transient("the claim's digest key is not hexadecimal"))?;
        let spec = &self.job.spec;
        let vars: Vec<Value> = spec.vars.iter().map(|one| json!([one.name, one.value])).collect();
        let values: Step<Vec<Value>> =
            self.values.iter().map(|one| Ok(json!([one.name, shown(one, &key)?]))).collect();
        let canonical = json!({
            "inputs": 1,
            "vars": vars,
            "varsFrom": values?,
            "files": self.file_digests()?,
            "backend": spec.backend,
            "workspace": spec.workspace,
            "engine": [binary(self.tool), self.version],
        });
        Ok(InputsDigest::of(canonical.to_string().as_bytes()))
    }

    fn file_digests(&self) -> Step<Vec<Value>> {
        let digest = |(name, path): (&String, &PathBuf)| {
            let text = self.workspace.read(path)?.ok_or_else(|| {
                Ended::configuration(format!("tfVarsFiles: `{name}` was removed while planning"))
            })?;
            Ok(json!([name, FileDigest::of(&text)]))
        };
        self.job.spec.tf_vars_files.iter().zip(self.files).map(digest).collect()
    }
}

fn shown(value: &ResolvedValue, key: &[u8]) -> Step<String> {
    if !value.secret {
        return Ok(value.value.clone());
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .map_err(|_| Ended::transient("the claim's digest key cannot be used"))?;
    mac.update(value.value.as_bytes());
    Ok(hex::encode(mac.finalize().into_bytes()))
}
