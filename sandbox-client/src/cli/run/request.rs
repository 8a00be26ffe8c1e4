//! From the options of `run` to a request. Reads local files; asks nobody.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::failure::Failure;
use super::{RunArgs, files, program};
use crate::client::MESSAGE_BYTES_MAX;
use crate::pb;

/// Room for everything of a request that is neither file nor standard input.
const ROOM_BYTES: usize = 2 << 20;

/// What files and standard input of one request may take together.
pub(super) fn payload_bytes_max() -> u64 {
    u64::try_from(MESSAGE_BYTES_MAX - ROOM_BYTES).unwrap_or(u64::MAX)
}

pub(super) fn build(args: &RunArgs) -> Result<pb::RunRequest, Failure> {
    refuse_what_is_not_built(args)?;
    let mut payload = files::Payload::new(payload_bytes_max());
    for put in &args.put {
        payload.put(put)?;
    }
    let (argv, policy) = program(args, &mut payload)?;
    let stdin = args
        .stdin
        .as_deref()
        .map(|path| read_stdin(path, &mut payload))
        .transpose()?;
    let policy_document = match &args.policy_file {
        Some(path) => Some(read_text(path)?),
        None => None,
    };
    let mut request = pb::RunRequest {
        image: args.image.clone(),
        policy: match (&policy_document, &args.policy) {
            (Some(_), _) => String::new(),
            (None, Some(written)) => written.clone(),
            (None, None) => policy.to_owned(),
        },
        policy_document,
        files: payload.into_files(),
        env: args
            .env
            .iter()
            .map(|var| (var.name.clone(), var.value.clone()))
            .collect(),
        stdin,
        limits: limits(args)?,
        collect: args.get.clone(),
        ..pb::RunRequest::default()
    };
    // Text where all of it is text, so that the request reads well wherever it is shown.
    match argv
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect::<Option<Vec<_>>>()
    {
        Some(words) => request.argv = words,
        None => {
            request.argv_bytes = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        }
    }
    Ok(request)
}

/// Options of the contract that this build has no sandbox for: refused, never ignored.
fn refuse_what_is_not_built(args: &RunArgs) -> Result<(), Failure> {
    let refused = match args {
        RunArgs { gpu: true, .. } => "--gpu: the GPU bridge",
        RunArgs { wasm: true, .. } => "--wasm: the WebAssembly tier",
        RunArgs { allow_host, .. } if !allow_host.is_empty() => {
            "--allow-host: the proxy for network access"
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage {
        message: format!("{refused} is not in this build; leave the option out"),
    })
}

/// The words of the command and the policy it gets if none is named.
fn program(
    args: &RunArgs,
    payload: &mut files::Payload,
) -> Result<(Vec<OsString>, &'static str), Failure> {
    let Some((first, rest)) = args.words.split_first() else {
        return Err(Failure::Usage {
            message: "name a FILE to run, or a command after `--`; see rollcage run --help"
                .to_owned(),
        });
    };
    if args.is_command {
        return Ok((
            args.words.clone(),
            policies::policy_for_program(&first.to_string_lossy()),
        ));
    }
    let file = Path::new(first);
    let (name, content) = payload.put_program(file)?;
    let launch = program::launch_of(file, content)?;
    Ok((
        launch
            .argv(&name)
            .into_iter()
            .chain(rest.iter().cloned())
            .collect(),
        launch.policy,
    ))
}

fn limits(args: &RunArgs) -> Result<Option<pb::Limits>, Failure> {
    let number = |option: &str, value: Option<u64>| {
        value
            .map(|value| {
                i64::try_from(value).map_err(|_too_large| Failure::Usage {
                    message: format!("{option} {value} is too large; the most is {}", i64::MAX),
                })
            })
            .transpose()
    };
    let limits = pb::Limits {
        wall_ms_max: number("--time", args.time)?,
        cpu_ms_max: number("--cpu-time", args.cpu_time)?,
        memory_bytes_max: number("--memory", args.memory)?,
        pids_max: number("--pids", args.pids)?,
        disk_bytes_max: number("--disk", args.disk)?,
        output_bytes_total_max: number("--output-cap", args.output_cap)?,
        ..pb::Limits::default()
    };
    Ok((limits != pb::Limits::default()).then_some(limits))
}

fn read_stdin(path: &Path, payload: &mut files::Payload) -> Result<Vec<u8>, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    // One byte more than there is room for tells too much from just enough.
    let limit = payload.bytes_left() + 1;
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    }
    payload.count("standard input", bytes.len())?;
    Ok(bytes)
}

fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })
}
