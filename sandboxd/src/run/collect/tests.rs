//! Tests of taking files out of a sandbox.

use std::io::Write;

use super::*;

fn frame(path: &[u8], content: &[u8]) -> Vec<u8> {
    let file = CollectedFile {
        path: path.to_vec(),
        mode: 0o600,
        content: content.to_vec(),
    };
    let bytes = postcard::to_stdvec(&file).unwrap();
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_le_bytes()[..], &bytes].concat()
}

async fn read(bytes: Vec<u8>) -> (Vec<CollectedFile>, Option<CollectError>) {
    let (ours, theirs) = output_pipe().unwrap();
    let writing = std::thread::spawn(move || {
        // A reader that has seen enough closes the pipe.
        drop(std::fs::File::from(theirs).write_all(&bytes));
    });
    let read = read_files(ours).await;
    writing.join().unwrap();
    read
}

#[tokio::test]
async fn whole_frames_are_files() {
    let bytes = [frame(b"a", b"1"), frame(b"b", &vec![7; 200_000])].concat();
    let (files, problem) = read(bytes).await;
    assert!(problem.is_none());
    assert_eq!(files.len(), 2);
    assert_eq!(files[1].content.len(), 200_000);
}

#[tokio::test]
async fn a_torn_frame_is_told_and_the_files_before_it_are_kept() {
    for torn in [1, 3, 5] {
        let bytes = [frame(b"a", b"1"), frame(b"b", b"2")[..torn].to_vec()].concat();
        let (files, problem) = read(bytes).await;
        assert_eq!(files.len(), 1);
        assert!(
            matches!(problem, Some(CollectError::Pipe(_))),
            "{problem:?}"
        );
    }
}

#[tokio::test]
async fn a_length_beyond_all_bounds_is_not_believed() {
    let bytes = u32::MAX.to_le_bytes().to_vec();
    let (_, problem) = read(bytes).await;
    assert!(matches!(problem, Some(CollectError::TooMuch)));
}

#[tokio::test]
async fn garbage_is_no_file() {
    let bytes = [&3_u32.to_le_bytes()[..], &[0xff, 0xff, 0xff]].concat();
    let (_, problem) = read(bytes).await;
    assert!(matches!(problem, Some(CollectError::Decode(_))));
}

#[tokio::test]
async fn too_many_files_are_cut() {
    let bytes = frame(b"a", b"").repeat(COLLECT_FILES_MAX as usize + 1);
    let (files, problem) = read(bytes).await;
    assert_eq!(files.len(), COLLECT_FILES_MAX as usize);
    assert!(matches!(problem, Some(CollectError::TooMuch)));
}
