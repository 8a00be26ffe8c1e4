//! Work that keeps a processor busy for as long as somebody else's bytes make it. It knows nothing
//! of what is computed.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Bytes whose reading is no matter: handing work to another thread would take as long.
const BYTES_LIGHT_MAX: usize = 64 << 10;

/// Does `work` on about `bytes` bytes so that every other run goes on meanwhile: the thread is no
/// longer one of those that serve.
#[expect(
    clippy::disallowed_methods,
    reason = "the bytes are lent: for spawn_blocking a whole workspace would be copied"
)]
pub(super) fn heavy<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let many_threads = Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > BYTES_LIGHT_MAX && many_threads {
        return block_in_place(work);
    }
    work()
}
