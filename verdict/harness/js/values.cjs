'use strict';
// The coding of values: plain ones by value, everything else as a handle of the process it lives in.
// The same file in both processes, the judge's and the one beside the solution. What is read makes
// arrays, plain objects and the like of this process alone: nothing that was sent has a method or a
// getter that could answer a comparison.

const { types } = require('node:util');

const FRAME_MAX = 64 << 20;
const ITEMS_MAX = 1 << 24;
const own = Object.prototype.hasOwnProperty;

// A value that cannot cross decides a test, whatever the test does with the error.
class CannotCross extends Error {}
// The other process ended or broke the protocol.
class Gone extends Error {}

const VIEWS = new Map([Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array,
  Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array, Buffer]
  .map((view) => [view.prototype, view]));
const VIEW_NAMES = new Map([...VIEWS.values()].map((view) => [view.name, view]));
const ERRORS = new Map([Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError]
  .map((error) => [error.prototype, error.name]));
const PROTOS = new Map([...ERRORS].map(([proto, name]) => [name, proto]));
for (const kind of [Object, Function, Array, Map, Set, Promise]) PROTOS.set(kind.name, kind.prototype);
const PROTO_NAMES = new Map([...PROTOS].map(([name, proto]) => [proto, name]));

function isObject(value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

// Own enumerable string keys other than the indices of an array.
function extraKeys(value) {
  const keys = Object.keys(value);
  return Array.isArray(value) ? keys.slice(Math.min(keys.length, countIndices(keys, value.length))) : keys;
}

function countIndices(keys, length) {
  let count = keys.length;
  while (count > 0) {
    const number = Number(keys[count - 1]);
    if (Number.isInteger(number) && number >= 0 && number < length && String(number) === keys[count - 1]) break;
    count -= 1;
  }
  return count;
}

// What kind of container a value is, if its content crosses: 'l', 'o', 'm', 's' or ''.
function containerKind(value) {
  const proto = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return proto === Array.prototype ? 'l' : '';
  if (proto === Map.prototype && types.isMap(value)) return 'm';
  if (proto === Set.prototype && types.isSet(value)) return 's';
  if (proto !== Object.prototype && proto !== null) return '';
  // Methods of an object literal need their object: such a one stays where it is.
  return Object.values(value).some((item) => typeof item === 'function') ? '' : 'o';
}

// The content of a container, one level deep, to see later whether it was changed.
function content(value) {
  if (types.isMap(value)) return [...value].flat();
  if (types.isSet(value)) return [...value];
  const flat = [];
  if (Array.isArray(value)) {
    flat.push(value.length);
    for (let at = 0; at < value.length; at += 1) flat.push(at in value ? value[at] : flat);
  }
  for (const key of extraKeys(value)) flat.push(key, value[key]);
  return flat;
}

function unchanged(before, now) {
  return before.length === now.length && before.every((item, at) =>
    Object.is(item, now[at]) || (item === before && now[at] === now));
}

function setOwn(target, key, value) {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

// One message going out. Containers get numbers in order, so that aliases and cycles stay so.
class Encoder {
  constructor(peer, seed = []) {
    this.peer = peer;
    this.objects = [...seed];
    this.numbers = new Map(this.objects.map((value, number) => [value, number]));
  }

  put(value) {
    switch (typeof value) {
      case 'undefined': return { u: 1 };
      case 'boolean': case 'string': return value;
      case 'number':
        if (Object.is(value, -0)) return { f: '-0' };
        return Number.isFinite(value) ? value : { f: String(value) };
      case 'bigint': return { n: value.toString(16) };
      case 'symbol': return this.symbol(value);
      default: return value === null ? null : this.object(value);
    }
  }

  symbol(value) {
    const key = Symbol.keyFor(value);
    if (key !== undefined) return { y: key };
    throw new CannotCross('a symbol cannot cross');
  }

  object(value) {
    const theirs = this.peer.numberOfProxy(value);
    if (theirs !== undefined) return { own: theirs };
    if (typeof value === 'function') return this.peer.describeHandle(value, this);
    if (this.numbers.has(value)) return { r: this.numbers.get(value) };
    if (types.isProxy(value)) return this.peer.describeHandle(value, this);
    if (containerKind(value) !== '') {
      this.numbers.set(value, this.objects.length);
      this.objects.push(value);
      return this.content(value);
    }
    return this.data(value) ?? this.peer.describeHandle(value, this);
  }

  // A container's content in full; for one that was changed it is asked for again.
  content(value) {
    const put = (item) => this.put(item);
    switch (containerKind(value)) {
      case 'm': return { m: [...value].flat().map(put) };
      case 's': return { s: [...value].map(put) };
      case 'l': {
        if (value.length > ITEMS_MAX) throw new CannotCross(`an array of ${value.length} items cannot cross`);
        const items = [];
        for (let at = 0; at < value.length; at += 1) items.push(at in value ? put(value[at]) : { e: 1 });
        const extra = this.pairs(value, extraKeys(value).filter((key) => typeof value[key] !== 'function'));
        return extra.length === 0 ? { l: items } : { l: items, x: extra };
      }
      case 'o': {
        const pairs = this.pairs(value, Object.keys(value));
        return Object.getPrototypeOf(value) === null ? { o: pairs, z: 1 } : { o: pairs };
      }
      default: throw new CannotCross('a container that became an object with methods cannot cross');
    }
  }

  pairs(value, keys) {
    return keys.flatMap((key) => [key, this.put(value[key])]);
  }

  // Immutable data of the language's own, or what is copied as such.
  data(value) {
    const proto = Object.getPrototypeOf(value);
    if (types.isDate(value) && proto === Date.prototype) return { d: this.put(Date.prototype.getTime.call(value)) };
    if (types.isRegExp(value) && proto === RegExp.prototype) return { re: [value.source, value.flags, value.lastIndex] };
    if (ArrayBuffer.isView(value) && VIEWS.has(proto)) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return { b: [VIEWS.get(proto).name, bytes.toString('base64')] };
    }
    if (types.isArrayBuffer(value)) return { b: ['', Buffer.from(value).toString('base64')] };
    if (types.isNativeError(value)) return this.error(value);
    if (types.isBoxedPrimitive(value) && !types.isSymbolObject(value)) return { w: this.put(value.valueOf()) };
    if (types.isPromise(value)) return { p: this.peer.exportPromise(value) };
    return undefined;
  }

  error(value) {
    const keys = Object.keys(value).filter((key) => key !== 'stack' && typeof value[key] !== 'function');
    return { x: [this.peer.describeProto(Object.getPrototypeOf(value)), String(value.name),
      String(value.message), this.pairs(value, keys)] };
  }
}

// One message coming in, read without trust: whatever is not as it must be throws.
class Decoder {
  constructor(peer, seed = []) {
    this.peer = peer;
    this.objects = [...seed];
  }

  get(tree) {
    if (tree === null || typeof tree === 'boolean' || typeof tree === 'string') return tree;
    if (typeof tree === 'number') return tree;
    if (typeof tree !== 'object' || Array.isArray(tree)) throw new TypeError('no value');
    for (const tag in tree) {
      if (own.call(GET, tag)) return GET[tag](this, tree[tag], tree);
    }
    throw new TypeError('an unknown kind of value');
  }

  list(items) {
    if (!Array.isArray(items)) throw new TypeError('no list');
    return items.map((item) => this.get(item));
  }

  register(value) {
    this.objects.push(value);
    return value;
  }

  // Puts content into a container that is empty or is to be replaced.
  fill(value, tree) {
    if (own.call(tree, 'm') && types.isMap(value)) {
      const flat = this.list(tree.m);
      value.clear();
      for (let at = 0; at + 1 < flat.length; at += 2) value.set(flat[at], flat[at + 1]);
    } else if (own.call(tree, 's') && types.isSet(value)) {
      const items = this.list(tree.s);
      value.clear();
      for (const item of items) value.add(item);
    } else if (own.call(tree, 'l') && Array.isArray(value)) {
      const items = tree.l.map((item) => (isHole(item) ? HOLE : this.get(item)));
      for (const key of extraKeys(value)) delete value[key];
      value.length = 0;
      value.length = items.length;
      items.forEach((item, at) => { if (item !== HOLE) value[at] = item; });
      if (own.call(tree, 'x')) this.pairs(value, tree.x);
    } else if (own.call(tree, 'o') && !Array.isArray(value) && !types.isMap(value) && !types.isSet(value)) {
      for (const key of Object.keys(value)) delete value[key];
      this.pairs(value, tree.o);
    } else {
      throw new TypeError('another kind of container');
    }
    return value;
  }

  pairs(value, flat) {
    for (let at = 0; at < flat.length; at += 2) {
      if (typeof flat[at] !== 'string') throw new TypeError('a key that is no text');
      const item = this.get(flat[at + 1]);
      // It could be called by an operator: an object with methods comes as a handle.
      if (typeof item === 'function') throw new TypeError('a method in plain data');
      setOwn(value, flat[at], item);
    }
  }

  error([proto, name, message, pairs]) {
    if (typeof name !== 'string' || typeof message !== 'string') throw new TypeError('no error');
    const error = new Error(message);
    Object.setPrototypeOf(error, this.peer.localProto(proto));
    if (error.name !== name) setOwn(error, 'name', name);
    if (own.call(error, 'name')) Object.defineProperty(error, 'name', { enumerable: false });
    this.pairs(error, pairs);
    this.peer.remoteErrors.add(error);
    return error;
  }
}

const HOLE = Symbol('hole');

function isHole(item) {
  return typeof item === 'object' && item !== null && own.call(item, 'e');
}

function bytesOf(name, text) {
  const bytes = Buffer.from(text, 'base64');
  if (name === 'Buffer') return bytes;
  const buffer = new Uint8Array(bytes).buffer;
  return name === '' ? buffer : new (VIEW_NAMES.get(name))(buffer);
}

function regExp([source, flags, lastIndex]) {
  const made = new RegExp(source, flags);
  made.lastIndex = Number(lastIndex);
  return made;
}

function reference(objects, number) {
  if (!Number.isInteger(number) || !own.call(objects, number)) throw new TypeError('no such container');
  return objects[number];
}

const FLOATS = new Map([['NaN', NaN], ['Infinity', Infinity], ['-Infinity', -Infinity], ['-0', -0]]);

function float(name) {
  if (!FLOATS.has(name)) throw new TypeError('no number');
  return FLOATS.get(name);
}

function bigint(text) {
  if (!/^-?[0-9a-f]+$/.test(text)) throw new TypeError('no number');
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
}

const GET = {
  u: () => undefined,
  f: (decoder, name) => float(name),
  n: (decoder, text) => bigint(text),
  y: (decoder, key) => Symbol.for(String(key)),
  r: (decoder, number) => reference(decoder.objects, number),
  own: (decoder, number) => decoder.peer.exported(number),
  l: (decoder, items, tree) => decoder.fill(decoder.register([]), tree),
  o: (decoder, pairs, tree) =>
    decoder.fill(decoder.register(own.call(tree, 'z') ? Object.create(null) : {}), tree),
  m: (decoder, items, tree) => decoder.fill(decoder.register(new Map()), tree),
  s: (decoder, items, tree) => decoder.fill(decoder.register(new Set()), tree),
  d: (decoder, time) => new Date(decoder.get(time)),
  re: (decoder, parts) => regExp(parts),
  b: (decoder, [name, text]) => bytesOf(name, text),
  x: (decoder, parts) => decoder.error(parts),
  w: (decoder, value) => Object(decoder.get(value)),
  p: (decoder, number) => decoder.peer.remotePromise(number),
  h: (decoder, number, tree) => decoder.peer.proxy(number, tree),
};

module.exports = {
  CannotCross, Decoder, Encoder, FRAME_MAX, Gone, PROTOS, PROTO_NAMES, content, isObject, own, reference,
  unchanged,
};
