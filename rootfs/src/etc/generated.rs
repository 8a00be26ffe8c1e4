//! The files of `/etc` that are ours: who exists, which names resolve, what time zone it is.
//!
//! They are the same on every host but for `os-release`, so that programs behave the same.

use std::fs;
use std::path::Path;

use super::EtcError;
use super::copy::Copier;

/// Path below `/etc` and text. Users: root, the payload (uid 1000) and nobody.
const FILES: &[(&str, &str)] = &[
    (
        "passwd",
        "root:x:0:0:root:/root:/bin/sh\n\
         user:x:1000:1000:user:/workspace:/bin/sh\n\
         nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    ),
    (
        "group",
        "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n",
    ),
    (
        "hosts",
        "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    ),
    ("hostname", "sandbox\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n\
         protocols: files\nservices: files\nethers: files\nrpc: files\n",
    ),
    // No resolver: names are files, or the business of a proxy.
    ("resolv.conf", ""),
    ("host.conf", "multi on\n"),
    ("timezone", "Etc/UTC\n"),
    ("shells", "/bin/sh\n/bin/bash\n"),
    (
        "profile",
        "# Every login shell of a sandbox.\n\
         umask 022\n\
         export PATH=\"${PATH:-/usr/local/bin:/usr/bin:/bin}\"\n\
         [ -z \"${PS1-}\" ] || PS1='sandbox:\\w\\$ '\n",
    ),
];

/// UTC as a time zone file: version 1, no transitions, one type named `UTC` at offset 0.
const UTC: &[u8] = b"TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\
    \0\0\0\0\0\0UTC\0";

/// Where the host says what it is; only what others can read anyway.
const OS_RELEASE: &str = "usr/lib/os-release";

pub(super) fn write_all(host_root: &Path, copier: &mut Copier) -> Result<(), EtcError> {
    for &(path, text) in FILES {
        copier.generate(path, text.as_bytes())?;
    }
    copier.generate("localtime", UTC)?;
    copier.generate_link("mtab", "../proc/self/mounts")?;
    // The sandbox has /usr, so the link leads to the very file.
    if fs::symlink_metadata(host_root.join(OS_RELEASE)).is_ok() {
        copier.generate_link("os-release", &format!("../{OS_RELEASE}"))
    } else {
        copier.generate(
            "os-release",
            b"ID=linux\nNAME=\"Linux\"\nPRETTY_NAME=\"Linux\"\n",
        )
    }
}
