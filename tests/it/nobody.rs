//! User ids of no account on the host. The kernel counts processes by user, and tests run at once: each
//! id belongs to one test alone. The compiler refuses two equal ones.

/// Who the id is for.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(crate) enum Nobody {
    Rootless = 61_101,
    Lowest,
    Delegated,
    InDocker,
    InAContainer,
    WithoutNamespaces,
    OlderLowest,
    OlderRootless,
    Hiding,
    ChildrenUnwaited,
    Pid1,
    Probing,
    Calling,
    Mutated,
    SelfTested,
    SelfTestedLowest,
    Racing,
    RacingLowest,
    Leaving,
    LeavingLowest,
    ImageOwner,
    RuleChanging,
    RuleChangingLowest,
    FolderOwner,
    Surrounded,
    Variables,
    VariablesLowest,
    Neighbour,
    NeighbourLowest,
    Streaming,
    StreamingLowest,
}

impl Nobody {
    /// Its uid, and its gid.
    pub(crate) const fn id(self) -> u32 {
        self as u32
    }
}
