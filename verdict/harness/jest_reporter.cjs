// A reporter of jest: one line a test on the report's descriptor, when all have run.
"use strict";
const { writeSync } = require("node:fs");

const NONCE = "@NONCE@";
const FD = 4;
const STATES = { passed: "passed", failed: "failed" };

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

module.exports = class Reporter {
  onRunComplete(_contexts, results) {
    let count = 0;
    const test = (line) => {
      count += 1;
      say({ event: "test", ...line });
    };
    for (const file of results.testResults) {
      for (const one of file.testResults) {
        test({
          id: [...one.ancestorTitles, one.title].join(" > ").slice(0, 1024),
          status: STATES[one.status] ?? "skipped",
          duration_ms: Math.max(0, Math.trunc(one.duration ?? 0)),
          message: one.failureMessages.join("\n").slice(0, 4096),
          file: file.testFilePath,
          line: one.location?.line ?? null,
        });
      }
      if (file.testExecError || (file.failureMessage && !file.testResults.length)) {
        test({
          id: file.testFilePath,
          status: "error",
          duration_ms: 0,
          message: String(file.failureMessage ?? file.testExecError.message ?? "").slice(0, 4096),
          file: file.testFilePath,
          line: null,
        });
      }
    }
    if (results.wasInterrupted) return;
    say({ event: "end", tests: count });
  }
};
