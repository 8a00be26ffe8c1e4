'use strict';
// Handles of the other process's objects, and the calls between the two over descriptor 3.
// In the judge a handle is never turned into a number or compared by its own methods: the expected
// value never leaves, and only the judge's comparison of plain values decides.

const fs = require('node:fs');
const { CannotCross, Decoder, Encoder, FRAME_MAX, Gone, PROTOS, PROTO_NAMES, content, isObject, own,
  reference, unchanged } = require('./values.cjs');

const SOCKET = 3;
const { readSync, writeSync } = fs;
// Symbols that a handle passes on; every other one it does not have.
const SYMBOLS = new Map([['@@iterator', Symbol.iterator], ['@@asyncIterator', Symbol.asyncIterator]]);
const SYMBOL_NAMES = new Map([...SYMBOLS].map(([name, symbol]) => [symbol, name]));

// What a handle does. It is one object for all: what it belongs to is found by its target.
class Traps {
  constructor(peer) {
    this.peer = peer;
  }

  get(target, key) {
    if (typeof key === 'symbol') {
      if (key === Symbol.toPrimitive && this.peer.judges) return this.peer.coercion(target);
      if (!SYMBOL_NAMES.has(key)) return undefined;
    }
    if (key === 'prototype' && typeof target === 'function') return target.prototype;
    return this.peer.about('get', target, keyText(key));
  }

  set(target, key, value) {
    if (typeof key === 'symbol') return false;
    this.peer.about('set', target, key, value);
    return true;
  }

  has(target, key) {
    if (typeof key === 'symbol') return SYMBOL_NAMES.has(key) && this.get(target, key) !== undefined;
    return own.call(target, key) || this.peer.about('has', target, key) === true;
  }

  deleteProperty(target, key) {
    if (typeof key === 'symbol' || own.call(target, key)) return false;
    return this.peer.about('del', target, key) === true;
  }

  defineProperty(target, key, descriptor) {
    if (!own.call(descriptor, 'value') || typeof key === 'symbol') return false;
    this.peer.about('set', target, key, descriptor.value);
    return true;
  }

  // Own data as it is now, taken in one request: which keys are asked for is not told.
  ownKeys(target) {
    const keys = [...this.peer.snapshot(target).keys()];
    return typeof target === 'function' ? [...new Set([...keys, 'prototype'])] : keys;
  }

  getOwnPropertyDescriptor(target, key) {
    if (key === 'prototype' && typeof target === 'function') return Reflect.getOwnPropertyDescriptor(target, key);
    const values = this.peer.snapshot(target);
    if (!values.has(key)) return undefined;
    return { value: values.get(key), writable: true, enumerable: true, configurable: true };
  }

  getPrototypeOf(target) {
    return Reflect.getPrototypeOf(target);
  }

  setPrototypeOf() {
    return false;
  }

  preventExtensions() {
    return false;
  }

  apply(target, receiver, args) {
    return this.peer.about('call', target, receiver, args);
  }

  construct(target, args, made) {
    if (this.peer.numberOfProxy(made) !== this.peer.numbers.get(target)) {
      throw this.peer.refuse('value cannot cross: a class that extends one of the other process');
    }
    return this.peer.about('new', target, args);
  }
}

function keyText(key) {
  return typeof key === 'symbol' ? SYMBOL_NAMES.get(key) : key;
}

function keyOf(text) {
  if (typeof text !== 'string') throw new TypeError('no key');
  return SYMBOLS.get(text) ?? text;
}

// One end of the socket: sends requests, serves those of the other side meanwhile.
class Peer {
  constructor() {
    this.judges = false;
    this.traps = new Traps(this);
    this.exports = new Map();
    this.exportNumbers = new Map();
    // Proxy -> number, target -> number, number -> proxy.
    this.proxyNumbers = new WeakMap();
    this.numbers = new WeakMap();
    this.proxies = new Map();
    this.protoNumbers = new Map();
    this.protos = new Map();
    this.localProtos = new Map();
    this.promises = new Map();
    this.promiseNumbers = new Map();
    this.settled = [];
    this.wake = () => {};
    this.remoteErrors = new WeakSet();
    this.snapshots = { epoch: -1, target: null, values: null };
    this.epoch = 0;
    this.gone = null;
    this.refused = null;
  }

  // Frames: a length of four bytes, then JSON.

  send(message) {
    let text;
    try {
      text = JSON.stringify(message);
    } catch (error) {
      throw new CannotCross(error instanceof RangeError ? 'it is nested too deeply' : String(error));
    }
    const body = Buffer.from(text);
    if (body.length > FRAME_MAX) throw new CannotCross('a value of more than 64 MiB cannot cross');
    const head = Buffer.alloc(4);
    head.writeUInt32LE(body.length);
    for (const part of [head, body]) {
      for (let at = 0; at < part.length;) {
        try {
          at += writeSync(SOCKET, part, at);
        } catch (error) {
          throw this.lose(`its socket is closed (${error.code})`);
        }
      }
    }
  }

  receive() {
    const size = this.exactly(4).readUInt32LE();
    if (size === 0 || size > FRAME_MAX) throw this.lose(`it sent a frame of ${size} bytes`);
    const text = this.exactly(size).toString();
    try {
      const frame = JSON.parse(text);
      if (Array.isArray(frame) && (frame[0] === 'Q' || frame[0] === 'A')) return frame;
    } catch { /* said below */ }
    throw this.lose('it sent what is no frame');
  }

  exactly(size) {
    const buffer = Buffer.alloc(size);
    for (let at = 0; at < size;) {
      let count = 0;
      try {
        count = readSync(SOCKET, buffer, at, size - at);
      } catch (error) {
        throw this.lose(`its socket failed (${error.code})`);
      }
      if (count === 0) throw this.lose('its process ended');
      at += count;
    }
    return buffer;
  }

  lose(why) {
    this.gone ??= why;
    return new Gone(`the solution is gone: ${this.gone}`);
  }

  // Keeps the reason, so that a test that swallows it still cannot pass.
  refuse(why) {
    this.refused ??= why;
    return new CannotCross(why);
  }

  // Requests.

  about(action, target, ...args) {
    return this.request(action, this.proxies.get(this.numbers.get(target)), ...args);
  }

  request(action, ...args) {
    if (this.gone !== null) throw new Gone(`the solution is gone: ${this.gone}`);
    this.epoch += 1;
    const encoder = new Encoder(this);
    const known = this.protoNumbers.size;
    try {
      this.send(['Q', action, args.map((arg) => encoder.put(arg))]);
    } catch (error) {
      this.forgetProtos(known);
      if (error instanceof Gone) throw error;
      if (error instanceof RangeError) throw this.refuse('value cannot cross: it is nested too deeply');
      throw error instanceof CannotCross ? this.refuse(`value cannot cross: ${error.message}`) : error;
    }
    for (;;) {
      const frame = this.receive();
      if (frame[0] === 'A') return this.answer(frame, encoder.objects);
      this.serve(frame);
    }
  }

  answer([, how, tree, changes], seed) {
    let value;
    try {
      const decoder = new Decoder(this, seed);
      value = decoder.get(tree);
      for (const [number, now] of changes) decoder.fill(reference(seed, number), now);
    } catch (error) {
      if (error instanceof RangeError) throw this.refuse('value cannot cross: it is nested too deeply');
      throw this.lose(`its answer cannot be read (${error.name})`);
    }
    if (how === 'ok') return value;
    if (how === 'cannot') throw this.refuse(String(value));
    if (how !== 'error') throw this.lose('its answer is no answer');
    throw value;
  }

  serve(frame) {
    const decoder = new Decoder(this);
    let seed = [];
    let before = [];
    let result;
    try {
      const args = decoder.list(frame[2]);
      seed = [...decoder.objects];
      before = seed.map(content);
      result = ['ok', this.perform(frame[1], args)];
    } catch (error) {
      if (error instanceof Gone) throw error;
      result = error instanceof CannotCross ? ['cannot', error.message] : ['error', error];
    }
    this.reply(result, seed, before);
  }

  reply([how, value], seed = [], before = []) {
    const encoder = new Encoder(this, seed);
    const known = this.protoNumbers.size;
    try {
      const tree = encoder.put(value);
      const changes = [];
      before.forEach((old, number) => {
        if (!unchanged(old, content(seed[number]))) changes.push([number, encoder.content(seed[number])]);
      });
      this.send(['A', how, tree, changes]);
    } catch (error) {
      if (error instanceof Gone) throw error;
      this.forgetProtos(known);
      const why = error instanceof RangeError ? 'it is nested too deeply' : error.message;
      this.send(['A', 'cannot', `value cannot cross: ${why}`, []]);
    }
  }

  perform(action, [target, ...args]) {
    switch (action) {
      case 'get': return target[keyOf(args[0])];
      case 'set': target[keyOf(args[0])] = args[1]; return undefined;
      case 'has': return keyOf(args[0]) in target;
      case 'del': return delete target[keyOf(args[0])];
      case 'own': return Object.keys(target).flatMap((key) => [key, target[key]]);
      case 'call': return Reflect.apply(target, args[0], args[1]);
      case 'new': return Reflect.construct(target, args[0]);
      case 'text': return String(target);
      case 'maker': return this.protos.get(args[0]).constructor;
      default: throw new TypeError(`unknown action ${action}`);
    }
  }

  // Handles of our own objects.

  describeHandle(value) {
    if (value === globalThis) throw new CannotCross('the global object cannot cross');
    let number = this.exportNumbers.get(value);
    if (number === undefined) {
      number = this.exports.size + 1;
      this.exports.set(number, value);
      this.exportNumbers.set(value, number);
    }
    if (typeof value !== 'function') return { h: number, c: this.describeProto(Object.getPrototypeOf(value)) };
    const proto = this.judges ? undefined : value.prototype;
    return isObject(proto) ? { h: number, f: 1, c: this.describeProto(proto) } : { h: number, f: 1 };
  }

  // A prototype: the name of one that both sides have, or a number, described once.
  describeProto(proto) {
    if (proto === null) return 'Object';
    if (PROTO_NAMES.has(proto)) return PROTO_NAMES.get(proto);
    if (this.protoNumbers.has(proto)) return this.protoNumbers.get(proto);
    const number = this.protoNumbers.size + 1;
    this.protoNumbers.set(proto, number);
    this.protos.set(number, proto);
    return [number, this.describeProto(Object.getPrototypeOf(proto))];
  }

  // What was described in a message that was never sent.
  forgetProtos(known) {
    for (const [proto, number] of this.protoNumbers) {
      if (number > known) this.protoNumbers.delete(proto);
    }
  }

  exported(number) {
    if (!this.exports.has(number)) throw new TypeError('no such object');
    return this.exports.get(number);
  }

  // Handles of the other side's objects.

  numberOfProxy(value) {
    return this.proxyNumbers.get(value);
  }

  localProto(description) {
    if (typeof description === 'string') {
      if (!PROTOS.has(description)) throw new TypeError('no such prototype');
      return PROTOS.get(description);
    }
    if (Array.isArray(description)) {
      const [number, above] = description;
      const made = Object.create(this.localProto(above));
      Object.defineProperty(made, 'constructor', {
        get: () => this.request('maker', null, number), set: undefined, enumerable: false, configurable: true,
      });
      this.localProtos.set(number, made);
      return made;
    }
    if (!this.localProtos.has(description)) throw new TypeError('no such prototype');
    return this.localProtos.get(description);
  }

  proxy(number, tree) {
    if (!Number.isInteger(number)) throw new TypeError('no number');
    const proto = own.call(tree, 'c') ? this.localProto(tree.c) : undefined;
    const known = this.proxies.get(number);
    if (known !== undefined) return known;
    let target;
    if (own.call(tree, 'f')) {
      target = function () {};
      delete target.name;
      delete target.length;
      if (proto !== undefined) target.prototype = proto;
    } else {
      target = Object.create(proto);
    }
    const made = new Proxy(target, this.traps);
    this.numbers.set(target, number);
    this.proxyNumbers.set(made, number);
    this.proxies.set(number, made);
    return made;
  }

  // Own data of a handle. It holds until the next request.
  snapshot(target) {
    if (this.snapshots.epoch !== this.epoch || this.snapshots.target !== target) {
      const flat = this.about('own', target);
      const values = new Map();
      for (let at = 0; at + 1 < flat.length; at += 2) values.set(String(flat[at]), flat[at + 1]);
      this.snapshots = { epoch: this.epoch, target, values };
    }
    return this.snapshots.values;
  }

  coercion(target) {
    return (hint) => {
      if (hint !== 'string') {
        throw this.refuse('value cannot cross: an object of the solution is used as a plain value');
      }
      const text = this.about('text', target);
      return typeof text === 'string' ? text : '';
    };
  }

  // Promises. Each side keeps its own and tells the other, when it is asked, which were settled.

  exportPromise(promise) {
    if (!this.promiseNumbers.has(promise)) {
      const number = this.promiseNumbers.size + 1;
      this.promiseNumbers.set(promise, number);
      const tell = (ok) => (value) => { this.settled.push([number, ok, value]); this.wake(); };
      promise.then(tell(true), tell(false));
    }
    return this.promiseNumbers.get(promise);
  }

  remotePromise(number) {
    if (!this.promises.has(number)) {
      const entry = { open: true };
      entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
      this.promises.set(number, entry);
    }
    return this.promises.get(number).promise;
  }

  settle(list) {
    for (const [number, ok, value] of list) {
      const entry = this.promises.get(number);
      if (entry !== undefined && entry.open) {
        entry.open = false;
        if (ok === true) entry.resolve(value);
        else entry.reject(value);
      }
    }
  }

  takeSettled() {
    const list = this.settled;
    this.settled = [];
    return list;
  }

  isWaiting() {
    return [...this.promises.values()].some((entry) => entry.open);
  }
}

module.exports = { CannotCross, Gone, Peer };
