// Test code that passes against solution.js when both share a process, and must pass apart.
const assert = require('assert');
const strict = require('node:assert/strict');
assert.strictEqual(LIMIT, 7);
const plain = [undefined, null, true, 0, -0, 1.5, NaN, Infinity, -Infinity, 2 ** 53, 'é\ud800\0', 12n, -(2n ** 200n),
  [], [1, [2]], {}, { a: { b: [null] } }, new Map([[1, { a: 2 }], ['x', [3]]]), new Set([1, 'a']),
  new Date(5), /a+/gi, new Uint8Array([1, 2]), new Float64Array([1.5]), Buffer.from('xy'), new TypeError('t'),
  Object.assign(Object.create(null), { z: 1 }), [undefined, null], { u: undefined }, Symbol.for('s')];
for (const value of plain) {
  const back = ident(value);
  strict.deepStrictEqual(back, value);
  strict.equal(typeof back, typeof value);
}
strict.ok(Object.is(ident(-0), -0) && Number.isNaN(ident(NaN)));
strict.equal(0 in holes(), true);
strict.equal(1 in holes(), false);
strict.deepEqual(holes(), [1, , 3]);
const keyed = ident(JSON.parse('{"__proto__": {"x": 1}, "a": 2}'));
strict.ok(Object.hasOwn(keyed, '__proto__') && keyed.x === undefined && keyed.a === 2);

const list = [0]; const object = { gone: 1 }; const map = new Map(); const set = new Set();
const same = mutate(list, object, map, set);
strict.equal(same, list);
strict.deepEqual(list, [0, 1]);
strict.equal(object.k, list);
strict.ok(!('gone' in object) && map.get('a') === object && set.has(9));
const unsorted = [3, 1, 2]; const inner = [[9, 8]];
sortIt(unsorted); sortIt(inner[0]);
strict.deepEqual([unsorted, inner], [[1, 2, 3], [[8, 9]]]);
strict.equal(ident(unsorted), unsorted);
const loop = cyclic();
strict.equal(loop.self, loop);

strict.equal(arrow(3), 6);
strict.equal(apply((a, b) => a * b, 4, 5), 20);
strict.equal(apply(Math.max, 1, 5), 5);
strict.equal(adder(5)(6), 11);
strict.equal(apply(adder(1), 2), 3);
const handle = adder(2);
strict.equal(ident(handle), handle);
strict.equal(typeof handle, 'function');
strict.equal(ident.name, 'ident');
strict.equal(ident.length, 1);

const point = new Point(3, 4);
strict.equal(point.norm(), 5);
strict.equal(point.twice, 6);
point.x = 6;
strict.equal(point.twice, 12);
strict.ok(point instanceof Point && !(point instanceof Stack) && !(3 instanceof Point));
strict.ok(point instanceof Object && new Point3(1, 2, 3) instanceof Point);
strict.deepEqual(new Point(1, 2), new Point(1, 2));
strict.notDeepEqual(new Point(1, 2), new Point(1, 3));
strict.notDeepEqual(new Point(1, 2), { x: 1, y: 2 });
assert.deepEqual(new Point(1, 2), { x: 1, y: 2 });
strict.deepEqual({ ...new Point(1, 2) }, { x: 1, y: 2 });
strict.equal(new Point(1, 2).add(Point.origin()).constructor, Point);
strict.equal(`${new Point(1, 2)}`, '(1, 2)');
strict.equal(new Point(1, 2).toString(), '(1, 2)');
strict.equal(ident(point), point);
strict.equal(JSON.stringify(new Point3(1, 2, 3)), '{"x":1,"y":2,"z":3}');
const stack = new Stack();
strict.equal(stack.push(1).push([2]).size, 2);
strict.deepEqual([...stack], [1, [2]]);
strict.deepEqual(stack.pop(), [2]);
strict.deepEqual([...counting(3)], [0, 1, 2]);
for (const item of counting(2)) strict.ok(item < 2);
const ticks = counter();
ticks.inc();
strict.equal(ticks.n, 1);
strict.equal(ticks.inc(), 2);
strict.equal(bump() + bump(), 3);
strict.equal(table.double(4), 8);
strict.equal(table.scaled(4), 12);
const { double } = table;
strict.equal(double(1), 2);

strict.throws(() => boom('type'), TypeError);
strict.throws(() => boom('type'), { name: 'TypeError', message: 'bad type' });
strict.throws(() => boom('mine'), MyError);
strict.throws(() => boom('mine'), RangeError);
strict.throws(() => boom('mine'), { code: 9, name: 'MyError' });
strict.throws(() => new Stack().pop(), /empty/);
try { boom(''); strict.fail(); } catch (error) { strict.equal(error, 'text'); }
try { boom('mine'); } catch (error) {
  strict.ok(error instanceof Error && error.constructor === MyError && String(error) === 'MyError: mine');
}
strict.throws(() => undefinedName, ReferenceError);
strict.equal(typeof undefinedName, 'undefined');

class Node { constructor(left, right) { this.left = left; this.right = right; } }
const tree = new Node(new Node(null, null), null);
strict.equal(depth(tree), 2);
strict.equal(invert(tree), tree);
strict.ok(tree.left === null && tree.right instanceof Node);
strict.equal(depth({ left: null, right: { left: null, right: null } }), 2);
strict.deepEqual(peek(new Node(1, 2)), []);
strict.deepEqual(peek(() => 1), ['prototype']);
strict.equal(ident(strict), strict);
strict.equal(require('./solution').only(), 'exported');
strict.equal(only(), 'exported');
strict.equal(require('./solution.js').ident(4), 4);
let nested = deep(300);
for (let at = 0; at < 300; at += 1) [nested] = nested;
strict.deepEqual(nested, []);
strict.equal(isMatch('abc')[1], 'c');
strict.equal(isMatch('abc').index, 1);
console.assert(ident(true), 'fine');

let calledBack = null;
later(4, (error, value) => { calledBack = value; });
(async () => {
  strict.equal(await slow(4), 8);
  strict.deepEqual(await Promise.all([slow(1), slow(2)]), [2, 4]);
  await strict.rejects(slow(-1), MyError);
  strict.deepEqual(await mapAll([1, 2], async (x) => { await null; return x + 1; }), [2, 3]);
  strict.equal(await new Promise((resolve) => { later(1, (error, value) => resolve(value)); }), 2);
  strict.equal(calledBack, 5);
})();
strict.equal(await slow(5), 10);
