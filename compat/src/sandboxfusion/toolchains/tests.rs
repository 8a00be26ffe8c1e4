//! What is looked for.

use super::*;
use crate::testing::{Scripted, exited, ran};

#[test]
fn the_script_asks_for_every_need() {
    let script = script();
    assert_eq!(script.lines().count(), LANGUAGES.len());
    assert!(script.contains("if command -v g++ >/dev/null; then echo cpp; fi\n"));
    let java = "if command -v javac >/dev/null && command -v java >/dev/null; then echo java; fi\n";
    assert!(script.contains(java), "{script}");
}

#[tokio::test]
async fn only_what_was_said_is_there() {
    let daemon = Scripted::with_languages(&["cpp", "python", "cobol"], []);
    let toolchains = Toolchains::new(daemon, None, None);
    let found = toolchains.available("cpp").await.unwrap();
    assert_eq!(found.iter().copied().collect::<Vec<_>>(), ["cpp", "python"]);
}

#[tokio::test]
async fn a_look_that_fails_is_trouble_and_is_made_again() {
    #[derive(Debug)]
    struct Broken(std::sync::atomic::AtomicU32);
    impl Daemon for Broken {
        fn run(
            &self,
            _: RunRequest,
        ) -> futures::future::BoxFuture<'_, Result<crate::Ran, Trouble>> {
            let times = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let answer = match times {
                0 => Err(Trouble::fault("no daemon")),
                1 => Ok(ran(exited(2), "python\n")),
                _ => Ok(ran(exited(0), "python\n")),
            };
            Box::pin(async { answer })
        }
        fn ceilings<'a>(
            &'a self,
            _: &'a str,
        ) -> futures::future::BoxFuture<'a, Result<crate::Ceilings, Trouble>> {
            Box::pin(async { Err(Trouble::fault("not asked")) })
        }
    }
    let toolchains = Toolchains::new(Arc::new(Broken(0.into())), None, None);
    assert!(toolchains.available("python").await.is_err());
    assert!(toolchains.available("python").await.is_err());
    assert!(
        toolchains
            .available("python")
            .await
            .unwrap()
            .contains("python")
    );
}
