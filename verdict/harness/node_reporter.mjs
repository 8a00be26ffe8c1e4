// A reporter of node's own test runner: one line a test on the report's descriptor. It runs in the
// process that starts the test files, not in theirs.
import { writeSync } from "node:fs";
import { resolve } from "node:path";

const NONCE = "@NONCE@";
const FD = 4;
let count = 0;

function say(line) {
  let bytes = Buffer.from(JSON.stringify({ nonce: NONCE, ...line }) + "\n");
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(FD, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// A file without tests is told as one test of the file's name.
function isFile(data) {
  const name = String(data.name);
  if (data.nesting !== 0) return false;
  return resolve(name) === data.file || (/\.[cm]?[jt]s$/.test(name) && data.details?.type !== "suite");
}

function status(data, passed) {
  if (data.skip !== undefined && data.skip !== false) return "skipped";
  if (data.todo !== undefined && data.todo !== false) return passed ? "xpass" : "xfail";
  return passed ? "passed" : "failed";
}

function message(error) {
  if (error === undefined || error === null) return "";
  const cause = error.cause ?? error;
  const text = typeof cause === "object" ? (cause.stack ?? cause.message ?? error.message) : cause;
  return String(text).slice(0, 4096);
}

export default async function* report(source) {
  const names = [];
  const stderr = new Map();
  for await (const { type, data } of source) {
    if (type === "test:start") {
      names.length = data.nesting;
      names[data.nesting] = String(data.name);
    }
    if (type === "test:stderr") {
      const text = (stderr.get(data.file) ?? "") + data.message;
      stderr.set(data.file, text.slice(0, 4096));
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const passed = type === "test:pass";
    const error = data.details?.error;
    if (data.details?.type === "suite" && (passed || error?.failureType === "subtestsFailed")) continue;
    const whole = isFile(data);
    count += 1;
    say({
      event: whole ? "file" : "test",
      id: [...names.slice(0, data.nesting), String(data.name)].join(" > ").slice(0, 1024),
      status: status(data, passed),
      duration_ms: Math.max(0, Math.trunc(data.details?.duration_ms ?? 0)),
      message: (whole && stderr.get(data.file)) || message(error),
      file: String(data.file ?? ""),
      line: Number.isInteger(data.line) ? data.line : null,
    });
    yield "";
  }
  say({ event: "end", tests: count });
}
