//! `rollcage audit`: the log as it is written, what is in it, and whether it can be believed.
//! `verify` reads files and asks nobody; the rest asks a daemon.

mod tail;
pub(super) mod verify;

use std::path::PathBuf;

use clap::Subcommand;

use super::Context;
use super::failure::Failure;

/// Commands about the audit log.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  rollcage audit tail -n 20
  rollcage audit tail -f | jq -r .event
  rollcage audit query --run RUN
  rollcage audit verify /var/lib/rollcage/audit --key key.pub --receipt 1042:9f86d081…")]
pub(crate) enum AuditCommand {
    /// Print the last records, one JSON line each, as they stand in the log.
    Tail {
        /// How many.
        #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 10)]
        count: u64,
        /// Go on with new records as they are written.
        #[arg(short, long)]
        follow: bool,
    },
    /// Print records, one JSON line each.
    Query {
        /// Only records of this run.
        #[arg(
            long,
            value_name = "RUN",
            default_value = "",
            hide_default_value = true
        )]
        run: String,
        /// Only records of this event, for example run_ended.
        #[arg(
            long,
            value_name = "EVENT",
            default_value = "",
            hide_default_value = true
        )]
        event: String,
        /// From this sequence number on.
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        from: u64,
        /// Up to and with this sequence number.
        #[arg(long, value_name = "SEQ")]
        to: Option<u64>,
        /// At most this many.
        #[arg(
            short = 'n',
            long = "count",
            value_name = "N",
            default_value_t = 0,
            hide_default_value = true
        )]
        count: u64,
    },
    /// Check a log offline: every byte, every link, every signature. Exit code 1 if it does not hold.
    Verify(verify::VerifyArgs),
}

/// Does it.
pub(crate) async fn audit(context: &Context, command: AuditCommand) -> Result<u8, Failure> {
    match command {
        AuditCommand::Tail { count, follow } => tail::tail(context, count, follow).await,
        AuditCommand::Query {
            run,
            event,
            from,
            to,
            count,
        } => {
            let request = crate::pb::AuditQueryRequest {
                from_seq: from,
                to_seq: to,
                run_id: run,
                kind: event,
                records_max: count,
            };
            tail::query(context, request).await
        }
        AuditCommand::Verify(args) => {
            let folder = args.folder.clone().unwrap_or_else(|| log_folder(context));
            verify::verify(&context.terminal, &folder, &args)
        }
    }
}

/// Where a daemon with our state folder keeps its log.
pub(super) fn log_folder(context: &Context) -> PathBuf {
    context.connection.state_dir().join("audit")
}
