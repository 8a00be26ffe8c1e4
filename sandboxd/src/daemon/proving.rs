//! The self-test in the daemon's life: before it serves, before policies come into force, and
//! when somebody asks over the API.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::audit_client::AuditClient;
use crate::config::Config;
use crate::grpc::Prover;
use crate::grpc::desk::Desk;
use crate::policy_set::{PolicySet, PolicySetError, Ready};
use crate::run::Engine;
use crate::self_test::cache::Cache;
use crate::self_test::programs::ProgramsError;
use crate::self_test::{
    Ask, Occasion, Parts, ProveError, SelfTest, stops_start, troubles, troubles_together,
};

/// Tests, and puts in force what was found.
#[derive(Debug, Clone)]
pub(super) struct Proving {
    test: SelfTest,
    desk: Desk,
    at_start: bool,
}

/// Why the policies before stay in force.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReloadError {
    /// The task that reads them failed.
    #[error("read the policies")]
    Task(#[source] tokio::task::JoinError),
    /// They are wrong.
    #[error("load the policies")]
    Load(#[source] PolicySetError),
    /// Confinement does not hold under one of them.
    #[error("the self-test of the new policies failed: policy {policy}: {trouble}")]
    Unproven {
        /// Its name.
        policy: String,
        /// What is wrong.
        trouble: String,
    },
    /// The outcome of the self-test is not recorded.
    #[error("test the policies")]
    Unproved(#[source] ProveError),
}

/// What is known of the programs that confine, and where outcomes are kept.
#[derive(Debug)]
pub(super) struct Grounds {
    programs_sha256: Result<String, ProgramsError>,
    inherited: Result<String, ProgramsError>,
    cache_dir: Option<PathBuf>,
    at_start: bool,
    extra_read_paths: Vec<String>,
}

impl Grounds {
    pub(super) fn new(
        config: &Config,
        (programs_sha256, inherited): (
            Result<String, ProgramsError>,
            Result<String, ProgramsError>,
        ),
        cache_dir: Option<PathBuf>,
    ) -> Self {
        let shown = config.host_image.extra_read_paths.iter();
        Self {
            programs_sha256,
            inherited,
            cache_dir,
            at_start: config.self_test.at_start,
            extra_read_paths: shown
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
        }
    }
}

impl Proving {
    pub(super) fn new(
        grounds: Grounds,
        engine: &Engine,
        audit: &AuditClient,
        judge: Ready,
        desk: &Desk,
    ) -> Self {
        let test = SelfTest::new(Parts {
            engine: engine.clone(),
            audit: Arc::new(audit.clone()),
            judge,
            cache: grounds.cache_dir.map(Cache::new),
            programs_sha256: grounds.programs_sha256,
            inherited: grounds.inherited,
            extra_read_paths: grounds.extra_read_paths,
        });
        Self {
            test,
            desk: desk.clone(),
            at_start: grounds.at_start,
        }
    }

    /// Tests the policies in force. Gives the reason if the daemon must not serve.
    ///
    /// # Errors
    /// The outcome is not recorded.
    pub(super) async fn before_serving(&self) -> Result<Option<String>, ProveError> {
        let ask = Ask {
            occasion: Occasion::Start,
            fresh: false,
            names: BTreeSet::new(),
        };
        let set = self.in_force(&ask).await?;
        tell(&set);
        Ok(stops_start(&set))
    }

    /// Reads the policies of `folder` and puts them in force if a test finds nothing wrong with
    /// any; gives their names.
    ///
    /// # Errors
    /// See [`ReloadError`]; those before stay in force.
    pub(super) async fn reload(&self, folder: &Path) -> Result<Vec<String>, ReloadError> {
        let folder = folder.to_owned();
        let loaded = tokio::task::spawn_blocking(move || PolicySet::load(&folder)).await;
        let set = loaded
            .map_err(ReloadError::Task)?
            .map_err(ReloadError::Load)?;
        let names = set.catalog().names().map(str::to_owned).collect();
        if !self.at_start {
            let before = || self.desk.policies();
            let install = |set| self.put(set);
            self.test.replace(set, before, install).await;
            return Ok(names);
        }
        let ask = Ask {
            occasion: Occasion::Reload,
            fresh: false,
            names: BTreeSet::new(),
        };
        let install = |set: &PolicySet| {
            if troubles(set).next().is_none() {
                self.put(set.clone());
                return;
            }
            // What is in force with the same plan is as wrong, and was right before.
            let mut before = PolicySet::clone(&self.desk.policies());
            if before.take_wrong(set) {
                self.put(before);
            }
        };
        let proved = self.test.prove(&ask, || set, install).await;
        match troubles(&proved.map_err(ReloadError::Unproved)?).next() {
            Some((policy, trouble)) => Err(ReloadError::Unproven { policy, trouble }),
            None => Ok(names),
        }
    }

    /// Puts policies in force with what is known of them. For whoever has the turn.
    fn put(&self, set: PolicySet) {
        self.test.engine().note_policies(troubles(&set).collect());
        self.desk.set_policies(set);
    }

    /// Tests policies in force and puts down what was found, right or wrong.
    async fn in_force(&self, ask: &Ask) -> Result<PolicySet, ProveError> {
        let set = || PolicySet::clone(&self.desk.policies());
        let install = |set: &PolicySet| self.put(set.clone());
        self.test.prove(ask, set, install).await
    }
}

fn tell(set: &PolicySet) {
    for (policies, trouble) in troubles_together(set) {
        tracing::error!(policies, trouble, "not served: the self-test failed");
    }
}

impl Prover for Proving {
    fn prove_again(
        &self,
        names: BTreeSet<String>,
        principal: String,
    ) -> BoxFuture<'_, Result<(), ProveError>> {
        Box::pin(async move {
            let ask = Ask {
                occasion: Occasion::Asked(principal),
                fresh: true,
                names,
            };
            // What is put in force is recorded too, whether or not the caller waits for it.
            let proving = self.clone();
            let proved = tokio::spawn(async move { proving.in_force(&ask).await });
            let set = proved.await.map_err(ProveError::Task)??;
            tell(&set);
            Ok(())
        })
    }

    fn boot_id(&self) -> &str {
        self.test.boot_id()
    }

    fn at_start(&self) -> bool {
        self.at_start
    }
}
