// Runs spec files with a stand-in for the part of Jest that they use, so that
// no package need be installed. usage: node FILE SPEC...
//
// A file is an ES module whatever package.json says, and "./name" is
// "./name.js", as the track's own configuration has it.
//
// Exit status: 0 where every test passed, 1 where one failed, a file could not
// be loaded or there was none, 75 where this Node cannot run it.
import module from 'node:module';
import path from 'node:path';
import { inspect } from 'node:util';
import { pathToFileURL } from 'node:url';

if (!module.register) {
  console.error(`no verdict: Node ${process.version} is older than 20.6`);
  process.exit(75);
}
const exit = process.reallyExit.bind(process);
let done = false;
process.on('exit', () => {
  if (!done) { // by the program under test, or a promise that nobody settles
    process.exitCode = 1;
    console.log('FAIL: it ended before its tests did');
  }
});
process.exit = process.reallyExit = () => { throw new Error('the program called process.exit'); };

const hooks = `
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
const globals = 'export const {' + ${JSON.stringify('afterAll,afterEach,beforeAll,beforeEach,describe,expect,it,test,xdescribe,xit,xtest')} + '} = globalThis;';
export async function resolve(name, context, next) {
  if (name === '@jest/globals') return { url: 'data:text/javascript,' + encodeURIComponent(globals), format: 'module', shortCircuit: true };
  if (/^\\.\\.?\\//.test(name) && context.parentURL?.startsWith('file:')) {
    for (const end of ['', '.js', '/index.js']) {
      const url = new URL(name + end, context.parentURL);
      if (fs.statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile()) return { url: url.href, shortCircuit: true };
    }
  }
  return next(name, context);
}
export async function load(url, context, next) {
  const ours = url.startsWith('file:') && /\\.js$/.test(url);
  return next(url, ours ? { ...context, format: 'module' } : context);
}`;
module.register('data:text/javascript,' + encodeURIComponent(hooks));

// --- suites ------------------------------------------------------------------

const suite = (name, parent) => ({ name, parent, items: [], beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] });
const root = suite('', null);
let current = root;
const describe = (name, body) => {
  const outer = current;
  current = suite(String(name), outer);
  outer.items.push(current);
  try { body(); } finally { current = outer; }
};
const test = (name, body) => { current.items.push({ name: String(name), body }); };
const skipped = (name) => { current.items.push({ name: String(name), skip: true }); };
for (const hook of ['beforeAll', 'beforeEach', 'afterEach', 'afterAll']) globalThis[hook] = (f) => { current[hook].push(f); };
Object.assign(globalThis, { describe, test, it: test, xtest: skipped, xit: skipped, xdescribe: skipped });

// --- expectations ------------------------------------------------------------

const kind = (v) => Object.prototype.toString.call(v);
// equal compares as toEqual does: what is undefined counts as absent, and types
// are not compared; strict is toStrictEqual.
function equal(a, b, strict, seen = []) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || kind(a) !== kind(b)) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date || a instanceof Number || a instanceof String || a instanceof Boolean) return Object.is(a.valueOf(), b.valueOf());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Error) return a.message === b.message;
  if (seen.some(([x, y]) => x === a && y === b)) return true;
  const deeper = [...seen, [a, b]];
  const same = (x, y) => equal(x, y, strict, deeper);
  if (a instanceof Set) return a.size === b.size && [...a].every((x) => b.has(x) || [...b].some((y) => same(x, y)));
  if (a instanceof Map) return a.size === b.size && [...a].every(([k, v]) => [...b].some(([l, w]) => same(k, l) && same(v, w)));
  if (Array.isArray(a) || ArrayBuffer.isView(a)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!same(a[i], b[i]) || strict && (i in a) !== (i in b)) return false;
  }
  const keys = (o) => Reflect.ownKeys(o).filter((k) => Object.prototype.propertyIsEnumerable.call(o, k) && (strict || o[k] !== undefined));
  const mine = keys(a);
  return mine.length === keys(b).length && mine.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
}

function threw(f, wanted) {
  let error;
  try { f(); } catch (e) { error = { e }; }
  return error !== undefined && matchesError(error.e, wanted);
}

function matchesError(e, wanted) {
  const message = e?.message ?? String(e);
  if (wanted === undefined) return true;
  if (typeof wanted === 'string') return message.includes(wanted);
  if (wanted instanceof RegExp) return wanted.test(message);
  if (typeof wanted === 'function') return e instanceof wanted;
  return message === wanted.message;
}

const matchers = {
  toBe: (v, w) => Object.is(v, w),
  toEqual: (v, w) => equal(v, w, false),
  toStrictEqual: (v, w) => equal(v, w, true),
  toBeNull: (v) => v === null,
  toBeUndefined: (v) => v === undefined,
  toBeDefined: (v) => v !== undefined,
  toBeTruthy: (v) => Boolean(v),
  toBeFalsy: (v) => !v,
  toBeNaN: (v) => Number.isNaN(v),
  toBeGreaterThan: (v, w) => v > w,
  toBeGreaterThanOrEqual: (v, w) => v >= w,
  toBeLessThan: (v, w) => v < w,
  toBeLessThanOrEqual: (v, w) => v <= w,
  toBeCloseTo: (v, w, digits = 2) => v === w || Math.abs(v - w) < 10 ** -digits / 2,
  toBeInstanceOf: (v, w) => v instanceof w,
  toContain: (v, w) => (typeof v === 'string' ? v.includes(w) : [...v].some((x) => x === w || Object.is(x, w))),
  toContainEqual: (v, w) => [...v].some((x) => equal(x, w, false)),
  toHaveLength: (v, w) => v.length === w,
  toMatch: (v, w) => (w instanceof RegExp ? w.test(v) : v.includes(w)),
  toThrow: threw,
  toThrowError: threw,
};

class ExpectationError extends Error {}

function judge(name, ok, not, value, args) {
  if (ok !== not) return;
  const wanted = args.length > 0 ? ` ${args.map((a) => inspect(a)).join(', ')}` : '';
  throw new ExpectationError(`expected ${inspect(value)}${not ? ' not' : ''} ${name}${wanted}`);
}

globalThis.expect = (value) => {
  const plain = { not: {}, resolves: { not: {} }, rejects: { not: {} } };
  for (const [name, matcher] of Object.entries(matchers)) {
    for (const [to, not] of [[plain, false], [plain.not, true]]) to[name] = (...args) => judge(name, matcher(value, ...args), not, value, args);
    for (const [to, not] of [[plain.resolves, false], [plain.resolves.not, true]]) {
      to[name] = async (...args) => { const v = await value; judge(name, matcher(v, ...args), not, v, args); };
    }
    for (const [to, not] of [[plain.rejects, false], [plain.rejects.not, true]]) {
      to[name] = async (...args) => {
        const [failed, v] = await Promise.resolve(value).then((w) => [false, w], (e) => [true, e]);
        if (!failed) throw new ExpectationError(`expected a promise that rejects, and it gave ${inspect(v)}`);
        judge(name, matcher === threw ? matchesError(v, ...args) : matcher(v, ...args), not, v, args);
      };
    }
  }
  return plain;
};

// --- running -----------------------------------------------------------------

const call = (f) => (f.length === 0 ? f() : new Promise((resolve, reject) => { f((e) => (e ? reject(e) : resolve())); }));
const inward = (s) => (s === null ? [] : [...inward(s.parent), ...s.beforeEach]);
const outward = (s) => (s === null ? [] : [...s.afterEach, ...outward(s.parent)]);
let passed = 0;
const failed = [];

async function runTest(one, s, name) {
  if (one.skip) return;
  try {
    for (const f of inward(s)) await call(f);
    try { await call(one.body); } finally { for (const f of outward(s)) await call(f); }
    passed++;
  } catch (e) {
    failed.push(name);
    const at = (e?.stack ?? '').split('\n').find((l) => l.includes('.spec.') || l.includes('.test.'))?.trim().replace(pathToFileURL(process.cwd()).href + '/', '') ?? '';
    console.log(`FAIL: ${name}\n  ${e instanceof Error ? `${e.name === 'Error' ? e.constructor.name : e.name}: ${e.message}` : inspect(e)}\n  ${at}\n`);
  }
}

async function run(s, prefix) {
  for (const f of s.beforeAll) await call(f);
  for (const one of s.items) {
    const name = prefix ? `${prefix} > ${one.name}` : one.name;
    await (one.items ? run(one, name) : runTest(one, s, name));
  }
  for (const f of s.afterAll) await call(f);
}

try {
  for (const file of process.argv.slice(2)) await import(pathToFileURL(path.resolve(file)).href);
  await run(root, '');
} catch (e) {
  failed.push('a file');
  console.log(`FAIL: a file cannot be loaded\n  ${e instanceof Error ? `${e.name}: ${e.message}` : inspect(e)}\n`);
}
done = true;
console.log(`${passed} of ${passed + failed.length} tests passed`);
exit(failed.length > 0 || passed === 0 ? 1 : 0);
