'use strict';
// Runs beside the solution: loads its file as a module and serves the judge over descriptor 3.
// It knows no test and no expected value. Nothing it says is evidence by itself: whatever it
// reports, the judge decides on plain values in another sandbox.

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { createRequire } = require('node:module');
const { pathToFileURL } = require('node:url');
const { Gone, Peer } = require('./peer.cjs');
const { Decoder } = require('./values.cjs');

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', '__rollcage'];
// In front of the solution's first line: names of the module are looked up in its own scope.
const HOOK = '__rollcage(function () { return eval(arguments[0]); }); ';
const PUMP_MS = 10;
const MODULE_SYNTAX = /import statement outside|Unexpected token 'export'|import\.meta|top-level|await is only valid/;

function number(value) {
  return Number.isInteger(value) && value > 0 ? value : null;
}

// Line and column of a syntax error: the engine writes them in front of the stack.
function syntaxError(error, filename, file) {
  const stack = String(error.stack);
  const at = stack.startsWith(filename) ? /^:(\d+)\n.*\n( *)\^/.exec(stack.slice(filename.length)) : null;
  return { state: 'syntax_error', type: String(error.name), message: String(error.message), file,
    line: at && number(Number(at[1])), column: at && number(at[2].length + 1) };
}

function failingLine(error, filename) {
  const stack = String(error && error.stack);
  const at = stack.indexOf(`${filename}:`);
  const found = at < 0 ? null : /^(\d+)/.exec(stack.slice(at + filename.length + 1));
  return found && number(Number(found[1]));
}

class Solution {
  constructor(file) {
    this.file = file;
    this.path = path.join(path.dirname(__dirname), file);
    this.evaluate = () => { throw new ReferenceError('nothing is loaded'); };
    this.module = { exports: {} };
  }

  async load() {
    let text;
    try {
      text = fs.readFileSync(this.path, 'utf8').replace(/^\uFEFF/, '').replace(/^#!.*/, '');
    } catch (error) {
      return { state: 'missing', message: error.message, file: this.file };
    }
    process.argv.splice(1, process.argv.length, this.path);
    if (this.path.endsWith('.mjs')) return this.loadModule(null);
    try {
      vm.compileFunction(text, PARAMETERS, { filename: this.path });
    } catch (error) {
      if (MODULE_SYNTAX.test(error.message)) return this.loadModule(error);
      return syntaxError(error, this.path, this.file);
    }
    return this.loadScript(text);
  }

  loadScript(text) {
    const strict = /^\s*(?:(?:\/\/.*\n|\/\*[^]*?\*\/)\s*)*(['"])use strict\1/.test(text);
    const hook = (strict ? '"use strict"; ' : '') + HOOK;
    const require = createRequire(this.path);
    const run = vm.compileFunction(hook + text, PARAMETERS,
      { filename: this.path, columnOffset: -hook.length, importModuleDynamically: (name) => import(name) });
    this.module = { exports: {}, id: '.', filename: this.path, loaded: false, children: [], paths: [], parent: null };
    require.main = this.module;
    try {
      const { exports } = this.module;
      run.call(exports, exports, require, this.module, this.path, path.dirname(this.path),
        (evaluate) => { this.evaluate = evaluate; });
    } catch (error) {
      return this.exception(error);
    }
    return { state: 'ok' };
  }

  // A file with import and export: what it exports is what tests see. Node takes `.js` for one only
  // by a package file, so that the text is loaded under a name that says so.
  async loadModule(reason) {
    let target = this.path;
    if (!target.endsWith('.mjs')) {
      target = `${target}.rollcage.mjs`;
      try {
        fs.copyFileSync(this.path, target);
      } catch (error) {
        return reason === null ? this.exception(error) : syntaxError(reason, this.path, this.file);
      }
    }
    try {
      this.module = { exports: await import(pathToFileURL(target).href) };
    } catch (error) {
      return error instanceof SyntaxError
        ? syntaxError(error, pathToFileURL(target).href, this.file) : this.exception(error);
    }
    return { state: 'ok' };
  }

  exception(error) {
    const isError = error instanceof Error;
    return { state: 'exception', type: isError ? String(error.name) : typeof error, file: this.file,
      message: String(isError ? error.message : error), line: failingLine(error, this.path) };
  }

  // A name of the module's scope, or of what it exports, or a global one that it made.
  name(name) {
    try {
      return [true, this.evaluate(name)];
    } catch (error) {
      if (!(error instanceof ReferenceError) && !(error instanceof SyntaxError)) throw error;
    }
    const { exports } = this.module;
    return exports !== null && exports !== undefined && name in Object(exports) ? [true, exports[name]] : [false];
  }
}

class Host extends Peer {
  constructor(solution) {
    super();
    this.solution = solution;
  }

  perform(action, args) {
    if (action === 'name') return this.solution.name(args[0]);
    if (action === 'exports') return this.solution.module.exports;
    return super.perform(action, args);
  }

  // Lets timers and promises of the solution go on for a moment; tells which promises are settled,
  // and whether nothing is left that could go on.
  async pump([list]) {
    this.settle(list);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.settled.length === 0) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, PUMP_MS);
        this.wake = () => { clearTimeout(timer); resolve(); };
      });
      this.wake = () => {};
    }
    const busy = process.getActiveResourcesInfo().some((name) => !/^(?!Process).*Wrap$/.test(name));
    return { settled: this.takeSettled(), idle: !busy };
  }

  // What a path of names means: `solve`, `module.solve`, `Solution().solve`; with its owner.
  resolve(names) {
    let [owner, value] = [undefined, undefined];
    names.split('.').forEach((part, at) => {
      const name = part.replace('()', '');
      let found = value;
      if (at > 0) {
        found = value[name];
      } else {
        const [known, named] = this.solution.name(name);
        if (!known) throw new ReferenceError(`${name} is not defined`);
        found = named;
      }
      [owner, value] = name === part ? [value, found] : [undefined, new found()];
    });
    return [owner, value];
  }

  // One call for the daemon: loads the solution, calls, and waits for what was promised.
  async run([names, args]) {
    const loaded = await this.solution.load();
    if (loaded.state !== 'ok') {
      this.send(['A', 'load', [String(loaded.type ?? loaded.state), loaded.message], []]);
      return;
    }
    try {
      const [owner, value] = this.resolve(names);
      this.reply(['ok', await Reflect.apply(value, owner, args)]);
    } catch (error) {
      if (error instanceof Gone) throw error;
      this.reply(['error', error]);
    }
  }

  async serveAll() {
    const slow = { load: () => this.solution.load(), pump: (args) => this.pump(args) };
    for (;;) {
      const frame = this.receive();
      if (frame[1] === 'run') {
        await this.run(new Decoder(this).list(frame[2]));
        continue;
      }
      const action = Object.hasOwn(slow, frame[1]) ? slow[frame[1]] : null;
      if (action === null) this.serve(frame);
      else this.reply(['ok', await action(new Decoder(this).list(frame[2]))]);
    }
  }
}

async function main() {
  const host = new Host(new Solution(process.argv[2]));
  const leave = process.reallyExit.bind(process);
  try {
    await host.serveAll();
  } catch (error) {
    if (!(error instanceof Gone)) console.error(error);
  }
  leave(0);
}

main();
