//! Many requests at once, and more than there is room for.

use serde_json::Value;

use super::{python, serve, summary};

#[test]
fn two_hundred_and_fifty_six_requests_at_once_are_all_answered() {
    let test = "compat::bounds::two_hundred_and_fifty_six_requests_at_once_are_all_answered";
    let Some((_world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    let bodies: Vec<Value> = (0..256)
        .map(|number| python(&format!("print({number})")))
        .collect();
    let replies = endpoint.ask_at_once(&bodies);
    assert_eq!(replies.len(), 256);
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(summary(reply), "Success; -; Finished 0", "{number}");
        assert_eq!(reply.body["run_result"]["stdout"], format!("{number}\n"));
    }
}

#[test]
fn requests_beyond_the_bound_are_told_to_come_again() {
    let test = "compat::bounds::requests_beyond_the_bound_are_told_to_come_again";
    let Some((_world, endpoint)) = serve(test, "", &["--in-flight", "2", "--body-max", "4K"])
    else {
        return;
    };
    let bodies = vec![python("import time\ntime.sleep(2)\nprint(1)"); 12];
    let codes: Vec<u16> = endpoint
        .ask_at_once(&bodies)
        .iter()
        .map(|reply| reply.code)
        .collect();
    let served = codes.iter().filter(|code| **code == 200).count();
    assert!((2..12).contains(&served), "{codes:?}");
    assert!(
        codes.iter().all(|code| [200, 504].contains(code)),
        "{codes:?}"
    );
    let large = endpoint.ask(&python(&"#".repeat(5_000)));
    assert_eq!(large.code, 413, "{}", large.body);
}
