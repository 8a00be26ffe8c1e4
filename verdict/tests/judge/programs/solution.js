// A solution with one of everything that tests use.
const LIMIT = 7;
let state = 0;
function ident(x) { return x; }
const arrow = (a, b = 2) => a * b;
class MyError extends RangeError {
  constructor(message, code) { super(message); this.name = 'MyError'; this.code = code; }
}
class Point {
  constructor(x, y) { this.x = x; this.y = y; }
  get twice() { return this.x * 2; }
  norm() { return Math.hypot(this.x, this.y); }
  add(other) { return new Point(this.x + other.x, this.y + other.y); }
  static origin() { return new Point(0, 0); }
  toString() { return `(${this.x}, ${this.y})`; }
}
class Point3 extends Point {
  constructor(x, y, z) { super(x, y); this.z = z; }
}
class Stack {
  #items = [];
  push(item) { this.#items.push(item); return this; }
  pop() { if (this.#items.length === 0) throw new MyError('empty', 3); return this.#items.pop(); }
  get size() { return this.#items.length; }
  * [Symbol.iterator]() { yield* this.#items; }
}
function mutate(list, object, map, set) {
  list.push(1); object.k = list; delete object.gone; map.set('a', object); set.add(9);
  return list;
}
function sortIt(list) { list.sort((a, b) => a - b); }
function* counting(n) { for (let i = 0; i < n; i += 1) yield i; }
function apply(f, ...args) { return f(...args); }
function adder(n) { return (x) => x + n; }
function counter() { let n = 0; return { inc() { n += 1; return n; }, get n() { return n; } }; }
function bump() { state += 1; return state; }
function boom(kind) {
  switch (kind) {
    case 'type': throw new TypeError('bad type');
    case 'mine': throw new MyError('mine', 9);
    default: throw 'text';
  }
}
async function slow(x) {
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (x < 0) throw new MyError('negative', 1);
  return x * 2;
}
function later(x, done) { setTimeout(() => done(null, x + 1), 5); }
async function mapAll(list, f) { return Promise.all(list.map((item) => f(item))); }
function depth(node) { return node === null ? 0 : 1 + Math.max(depth(node.left), depth(node.right)); }
function invert(node) { [node.left, node.right] = [node.right, node.left]; return node; }
function cyclic() { const c = { name: 'c' }; c.self = c; return c; }
function deep(n) { let x = []; for (let i = 0; i < n; i += 1) x = [x]; return x; }
function holes() { return [1, , 3]; }
function peek(thing) {
  return ['constructor', '__proto__', 'prototype', 'caller', '__defineGetter__', 'toString', 'call']
    .filter((name) => { try { return thing[name] !== undefined; } catch { return false; } });
}
function isMatch(text) { return text.match(/b(.)/); }
const table = { double: (x) => x * 2, base: 3, scaled(x) { return this.base * x; } };
module.exports = { ident, only: () => 'exported' };
