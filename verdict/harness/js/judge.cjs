'use strict';
// Runs the test code against a solution in another sandbox, and reports over descriptor 4.
// No code of the solution runs here: names that the test code lacks are looked up there. The report
// is one JSON line with the run's nonce, written when everything that the tests began is over.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { createRequire } = require('node:module');
const { CannotCross, Gone, Peer } = require('./peer.cjs');

const REPORT = 4;
const MESSAGE_CHARS_MAX = 2000;
const LOAD_FIELDS = ['state', 'type', 'message', 'file', 'line', 'column', 'code'];
const WHOLE_TEST_ID = 'asserts';
// What the solution may not ask of an object that the test handed over.
const HIDDEN = /^(?:__.*|constructor|prototype|caller|callee|arguments)$/;
const BARE = [Object.prototype, Function.prototype];

function short(text) {
  return text.length <= MESSAGE_CHARS_MAX ? text : `${text.slice(0, MESSAGE_CHARS_MAX)}...`;
}

// Serves the solution only what the test handed it: calls, and public data.
class Judge extends Peer {
  constructor() {
    super();
    this.judges = true;
  }

  perform(action, args) {
    const [target, ...rest] = args;
    if (this.exportNumbers.get(target) === undefined) throw new TypeError('the test did not hand this over');
    if (action === 'call' || action === 'new') {
      if (typeof target !== 'function') throw new TypeError('no function');
      return super.perform(action, args);
    }
    if (action === 'own' && typeof target !== 'function') return super.perform(action, args);
    if (!['get', 'set', 'has', 'del'].includes(action)) throw new TypeError('not allowed');
    if (action === 'set' && isData(target, ...rest)) return super.perform(action, args);
    return this.isPublic(target, rest[0]) && action !== 'set' ? super.perform(action, args) : this.refused(action);
  }

  refused(action) {
    if (action === 'set' || action === 'del') throw new TypeError('not allowed');
    return action === 'has' ? false : undefined;
  }

  isPublic(target, name) {
    if (typeof name !== 'string' || HIDDEN.test(name)) return false;
    if (typeof target === 'function') return name === 'name' || name === 'length';
    if (name.startsWith('@@')) return true;
    for (let object = target; object !== null; object = Object.getPrototypeOf(object)) {
      if (BARE.includes(object)) return false;
      if (Object.hasOwn(object, name)) return true;
    }
    return false;
  }
}

// Whether a property of an object that the test handed over may be set so: to data, by a plain name.
function isData(target, name, value) {
  return typeof target !== 'function' && typeof name === 'string' && !HIDDEN.test(name) && !name.startsWith('@@')
    && typeof value !== 'function';
}

// What tests compare with is never the solution's own, even where the test code forgot to name it.
const OWN_NAMES = new Map([['assert', require('node:assert')]]);
const NO_NAMES = ['expect', 'chai', 'should', 'sinon', 'jest', 'describe', 'it', 'test', 'suite'];

// The names that test code takes from elsewhere: the solution's, unless they are global here.
function makeScope(peer, entryPoints) {
  const mine = new Map([...OWN_NAMES].filter(([name]) => !entryPoints.includes(name)));
  let last = { name: null, value: undefined };
  return new Proxy(Object.create(null), {
    has(target, name) {
      if (typeof name === 'symbol') return false;
      if (mine.has(name)) return true;
      if ((name in globalThis || NO_NAMES.includes(name)) && !entryPoints.includes(name)) return false;
      const found = peer.request('name', name);
      last = { name, value: found[1] };
      return found[0] === true;
    },
    get(target, name) {
      if (typeof name === 'symbol') return undefined;
      if (mine.has(name)) return mine.get(name);
      return last.name === name ? last.value : peer.request('name', name)[1];
    },
    set(target, name, value) {
      mine.set(name, value);
      return true;
    },
  });
}

// `require` of test code: the solution's file by its name is what the solution exports.
function makeRequire(peer, file) {
  const plain = createRequire(path.join(path.dirname(__dirname), 'tests.cjs'));
  const stem = file.replace(/\.[cm]?js$/, '');
  const names = [file, stem, path.posix.basename(file), path.posix.basename(stem), 'solution', 'solution.js']
    .flatMap((name) => [`./${name}`, `../${name}`]);
  return Object.assign((name) => (names.includes(name) ? peer.request('exports') : plain(name)),
    { resolve: plain.resolve, cache: {}, main: undefined });
}

// One judgement: runs the tests, keeps their results, and knows which one is running.
class Run {
  constructor(peer, task) {
    this.peer = peer;
    this.task = task;
    this.report = { version: 1, nonce: task.nonce, load: null, verifier_error: null, tests: [], changed: [],
      gone: null, complete: false };
    this.sources = new Map();
    this.current = null;
    this.over = false;
    this.isPumping = false;
  }

  pieces() {
    const { code, tests } = this.task;
    const pieces = tests.map((test, at) => ({ id: test.id, name: `test-${at}`, code: test.code }));
    if (code.trim() !== '' || tests.length === 0) {
      pieces.unshift({ id: tests.length === 0 ? WHOLE_TEST_ID : null, name: 'test-code', code });
    }
    return pieces;
  }

  // Parses all test code first: an error in it is the verifier's, whatever the solution.
  parse(pieces) {
    for (const piece of pieces) {
      this.sources.set(piece.name, piece.code.split('\n'));
      try {
        new vm.Script(`(async function (require, module, exports) {${piece.code}\n})`, { filename: piece.name });
      } catch (error) {
        const line = /^[^\n]*:(\d+)\n/.exec(String(error.stack));
        const where = piece.id === null ? 'code' : piece.id;
        this.report.verifier_error =
          `the test code ${where} does not parse: ${error.message}${line ? ` (line ${line[1]})` : ''}`;
        return false;
      }
    }
    return true;
  }

  load() {
    let loaded = null;
    try {
      loaded = this.peer.request('load');
    } catch (error) {
      if (!(error instanceof Gone) && !(error instanceof CannotCross)) throw error;
    }
    if (typeof loaded !== 'object' || loaded === null) loaded = { state: 'gone' };
    this.report.load = {};
    for (const field of LOAD_FIELDS) {
      const value = Object.hasOwn(loaded, field) ? loaded[field] : undefined;
      if (typeof value === 'string') this.report.load[field] = short(value);
      else if (Number.isSafeInteger(value)) this.report.load[field] = value;
    }
    return this.report.load.state === 'ok';
  }

  async run() {
    const pieces = this.pieces();
    if (!this.parse(pieces) || !this.load()) return;
    const scope = makeScope(this.peer, this.task.entry_points);
    const require = makeRequire(this.peer, this.task.file);
    let inner = null;
    const first = (piece, hook) => {
      const opening = `(function (__scope, __hook) { with (__scope) { return async function (require, module, `
        + `exports) {${hook}`;
      const text = `${opening}${piece.code}\n} } })`;
      const script = new vm.Script(text, { filename: piece.name, columnOffset: -opening.length,
        importModuleDynamically: (name) => import(name) });
      return script.runInThisContext()(scope, (evaluate) => { inner = evaluate; });
    };
    const within = (piece) => inner(`(async function (require, module, exports) {${piece.code}\n})\n`
      + `//# sourceURL=${piece.name}`);
    for (const piece of pieces) {
      if (piece.id === null) {
        const failed = await this.attempt(piece, () => first(piece, '__hook(function () { return eval(arguments[0]); });'), require);
        if (failed.status !== 'passed') {
          this.report.tests = this.task.tests.map((test) => ({ ...failed, id: test.id }));
          return;
        }
      } else {
        const make = inner === null ? () => first(piece, '') : () => within(piece);
        this.report.tests.push(await this.attempt(piece, make, require));
      }
    }
  }

  // The result stays open to what comes late: an assertion in a timer fails the test that is last.
  async attempt(piece, make, require) {
    const result = { id: piece.id, status: 'passed', message: '', line: null, duration_ms: 0 };
    const started = performance.now();
    this.current = result;
    this.peer.refused = null;
    try {
      const module = { exports: {} };
      const test = make();
      const done = test.call(module.exports, require, module, module.exports);
      this.keepGoing();
      await done;
    } catch (error) {
      this.fail(error);
    }
    this.check();
    result.duration_ms = Math.trunc(performance.now() - started);
    return result;
  }

  // What decides a test whatever it did with the error.
  check() {
    const { peer, current, report } = this;
    if (current === null) return;
    if (peer.refused !== null) {
      current.status = 'failed';
      current.message = short(peer.refused);
    }
    if (peer.gone !== null) {
      report.gone ??= current.id ?? 'code';
      current.status = 'error';
      current.message = short(`the solution is gone: ${peer.gone}`);
    }
  }

  // Keeps the first failure of the running test.
  fail(error) {
    const { current } = this;
    if (current === null || current.status !== 'passed') return;
    const remote = this.peer.remoteErrors.has(error);
    const isError = error instanceof Error;
    if (!remote && isError && error.code === 'MODULE_NOT_FOUND') {
      this.report.verifier_error = short(`the test code cannot import: ${error.message.split('\n')[0]}`);
    }
    const type = isError ? text(error.name) : typeof error;
    const words = isError ? text(error.message) : text(error);
    const [line, source] = this.place(isError ? text(error.stack) : '');
    current.status = !remote && isError && error.code === 'ERR_ASSERTION' ? 'failed' : 'error';
    current.line = line;
    current.message = short(`${remote ? 'the solution threw ' : ''}${type}: ${words}${source ? ` | ${source}` : ''}`);
  }

  failAssert(words) {
    const { current } = this;
    if (current === null || current.status !== 'passed') return;
    const [line, source] = this.place(text(new Error().stack));
    Object.assign(current, { status: 'failed', line,
      message: short(`console.assert: ${words.map(text).join(' ') || 'false'}${source ? ` | ${source}` : ''}`) });
  }

  place(stack) {
    const found = /\b(test-(?:code|\d+)):(\d+)/.exec(stack);
    if (found === null || !this.sources.has(found[1])) return [null, ''];
    const line = Number(found[2]);
    return [line, (this.sources.get(found[1])[line - 1] ?? '').trim()];
  }

  // As long as the solution owes a promise, it is given time to keep it.
  keepGoing() {
    if (this.isPumping) return;
    this.isPumping = true;
    const step = () => {
      if (this.over || this.peer.gone !== null || !this.owes()) {
        this.isPumping = false;
        return;
      }
      if (this.pump()) setImmediate(step);
      else this.isPumping = false;
    };
    setImmediate(step);
  }

  owes() {
    return this.peer.isWaiting() || this.peer.settled.length > 0;
  }

  // Gives the solution a moment. Tells whether something came of it, or still may.
  pump() {
    try {
      const said = this.peer.request('pump', this.peer.takeSettled());
      this.peer.settle(said.settled);
      return said.idle !== true || said.settled.length > 0;
    } catch (error) {
      if (error instanceof CannotCross) return true;
      if (!(error instanceof Gone)) this.peer.lose('what it says of its promises cannot be read');
      return false;
    }
  }

  // Nothing is left to do here. The solution may still call back, or keep a promise.
  drained() {
    if (this.peer.gone !== null) return;
    const waits = this.current !== null && (!this.over || this.peer.exports.size > 0);
    if ((waits || this.owes()) && this.pump()) setImmediate(() => this.keepGoing());
  }

  finish(code) {
    this.check();
    if (!this.over && this.current !== null && this.current.status === 'passed') {
      this.current.status = 'error';
      this.current.message = 'the test never came to its end';
    }
    if (this.peer.isWaiting() && this.current !== null && this.current.status === 'passed') {
      this.current.status = 'error';
      this.current.message = 'a promise of the solution was never kept';
    }
    if (code !== 0 && this.current !== null && this.current.status === 'passed') {
      this.current.status = 'failed';
      this.current.message = `the test code ended with code ${code}`;
    }
    if (!this.over && this.current !== null) {
      const known = new Set(this.report.tests.map((test) => test.id));
      for (const piece of this.pieces()) {
        if (piece.id !== null && !known.has(piece.id)) this.report.tests.push({ ...this.current, id: piece.id });
      }
    }
    this.report.complete = this.report.fault === undefined;
    const line = Buffer.from(`${JSON.stringify(this.report)}\n`);
    for (let at = 0; at < line.length;) at += fs.writeSync(REPORT, line, at);
  }
}

// Text of anything; what the solution sent is data, but its text may be asked for remotely.
function text(value) {
  try {
    return String(value);
  } catch {
    return '';
  }
}

function watchConsole(run) {
  const watched = (condition, ...words) => {
    if (!condition) run.failAssert(words);
  };
  console.assert = watched;
  console.Console.prototype.assert = watched;
}

function main() {
  const task = JSON.parse(fs.readFileSync(path.join(__dirname, 'task.json'), 'utf8'));
  const run = new Run(new Judge(), task);
  watchConsole(run);
  process.on('uncaughtException', (error) => run.fail(error));
  process.on('beforeExit', () => run.drained());
  process.on('exit', (code) => run.finish(code));
  run.run().then(
    () => { run.over = true; },
    (error) => { run.report.fault = short(`${error}`); },
  );
}

main();
