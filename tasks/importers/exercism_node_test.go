package importers

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// javascript imports one exercise with that spec file.
func javascript(t *testing.T, spec, manifest string) Folder {
	t.Helper()
	source, at := t.TempDir(), "javascript/exercises/practice/half"
	for p, content := range map[string]string{
		".docs/instructions.md": "Halve it.", "half.js": "export const half = (n) => n;\n", ".meta/proof.ci.js": "export const half = (n) => n / 2;\n", "half.spec.js": spec,
		".meta/config.json": `{"files": {"solution": ["half.js"], "test": ["half.spec.js"], "example": [".meta/proof.ci.js"]}}`, "package.json": manifest,
	} {
		writeFile(t, filepath.Join(source, at, p), content)
	}
	return expect(t, "exercism", source, []string{"javascript-half"}, nil)["javascript-half"]
}

const halfSpec = `import { describe, expect, test, xtest } from '@jest/globals';
import { half } from './half';

describe('half', () => {
  test('of two', () => { expect(half(2)).toBe(1); });
  xtest('of nine', () => { expect(half(9)).toEqual(4.5); });
});
`

// TestJavaScriptExercise: Node alone verifies, where the spec file uses what the
// stand-in for Jest has; the stub fails and the example passes.
func TestJavaScriptExercise(t *testing.T) {
	f := javascript(t, halfSpec, `{"devDependencies": {"jest": "29"}}`)
	task := f.Task
	if task.Verify != "node .jest/run.mjs half.spec.js" || slices.Contains(task.Tags, "needs-npm-packages") || !slices.Equal(task.Protect, []string{"half.spec.js", ".jest"}) {
		t.Errorf("verify %q, tags %q, protect %q", task.Verify, task.Tags, task.Protect)
	}
	for name, spec := range map[string]string{
		"a matcher":    strings.Replace(halfSpec, "toBe(", "toMatchSnapshot(", 1),
		"a mock":       halfSpec + "const f = jest.fn();\n",
		"a table":      halfSpec + "test.each([[1, 2]])('x', () => {});\n",
		"a package":    "import _ from 'lodash';\n" + halfSpec,
		"asymmetric":   halfSpec + "expect(1).toEqual(expect.anything());\n",
		"dynamic":      halfSpec + "const m = await import('x');\n",
		"dependencies": halfSpec,
	} {
		manifest := `{}`
		if name == "dependencies" {
			manifest = `{"dependencies": {"lodash": "4"}}`
		}
		if task := javascript(t, spec, manifest).Task; task.Verify != "npm test" || !slices.Contains(task.Tags, "needs-npm-packages") {
			t.Errorf("%s: verify %q, tags %q", name, task.Verify, task.Tags)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	for _, solved := range []bool{false, true} {
		want := map[bool]int{false: 1, true: 0}[solved]
		if out, code := runIn(t, laid(t, f, solved, false), task.Verify); code != want {
			t.Errorf("solved %v exits %d\n%s", solved, code, out)
		}
	}
}

// jestLines are bodies of tests, one a line; those after the empty line must fail.
const jestLines = `expect(1).toBe(1); expect(NaN).toBe(NaN); expect(1).not.toBe(2)
expect({ a: 1, b: undefined }).toEqual({ a: 1 })
expect([1, { a: [2] }]).toEqual([1, { a: [2] }])
expect(new Map([[1, { a: 1 }]])).toEqual(new Map([[1, { a: 1 }]])); expect(new Set([[1], [2]])).toEqual(new Set([[2], [1]]))
class A { constructor() { this.x = 1; } } expect(new A()).toEqual({ x: 1 }); expect(new A()).not.toStrictEqual({ x: 1 })
expect({ a: undefined }).not.toStrictEqual({}); expect([undefined]).not.toEqual([])
expect(new Date(5)).toEqual(new Date(5)); expect(/a/g).toEqual(/a/g); expect(new Error('x')).toEqual(new Error('x'))
const a = {}; a.a = a; const b = {}; b.a = b; expect(a).toEqual(b)
expect(() => { throw new TypeError('bad thing'); }).toThrow(); expect(() => { throw new Error('bad thing'); }).toThrow('bad')
expect(() => { throw new TypeError('bad thing'); }).toThrow(TypeError); expect(() => { throw new Error('bad'); }).toThrow(/^bad$/)
expect(() => { throw new Error('bad'); }).toThrow(new Error('bad')); expect(() => {}).not.toThrow()
expect(0.1 + 0.2).toBeCloseTo(0.3); expect(0.1 + 0.2).toBeCloseTo(0.3, 10); expect(1.01).not.toBeCloseTo(1)
expect([1, 2]).toContain(2); expect('abc').toContain('b'); expect([{ a: 1 }]).toContainEqual({ a: 1 }); expect([{ a: 1 }]).not.toContain({ a: 1 })
expect('abc').toMatch(/b/); expect('abc').toMatch('bc'); expect([1]).toHaveLength(1); expect(3).toBeGreaterThan(2)
expect(null).toBeNull(); expect(undefined).toBeUndefined(); expect(0).toBeDefined(); expect(0).toBeFalsy(); expect('x').toBeTruthy()
return expect(Promise.resolve(1)).resolves.toBe(1)
return expect(Promise.reject(new Error('bad'))).rejects.toThrow('bad')

expect(1).toBe('1')
expect(0).toEqual(-0)
expect([1, 2]).toEqual([2, 1])
expect([1]).toEqual({ 0: 1 })
expect({ a: 1 }).toEqual({ a: 1, b: 2 })
expect({ a: 1, b: 2 }).toEqual({ a: 1 })
expect(new Set([1])).toEqual(new Set([2]))
expect(new Map([[1, 1]])).toEqual(new Map([[1, 2]]))
expect(() => {}).toThrow()
expect(() => { throw new Error('bad'); }).toThrow('worse')
expect(() => { throw new Error('bad'); }).toThrow(TypeError)
expect(() => { throw new Error('bad thing'); }).toThrow(new Error('bad'))
expect(1).not.toBe(1)
expect(1).toBeNoMatcher()
process.exit(0)
return Promise.reject(new Error('x'))
return expect(Promise.resolve(1)).rejects.toThrow()
return expect(Promise.resolve(1)).resolves.toBe(2)
return new Promise((resolve) => setTimeout(() => { try { expect(1).toBe(1); } finally { resolve(expect(2).toBe(1)); } }, 0)).catch(() => {}).then(() => expect(1).toBe(2))`

// TestJestStandIn: what each expectation takes and refuses.
func TestJestStandIn(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	pass, fail, _ := strings.Cut(jestLines, "\n\n")
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, jestPath), jestStandIn)
	body := func(lines string) (spec string, n int) {
		for i, line := range strings.Split(lines, "\n") {
			spec += "test('t" + string(rune('a'+i)) + "', () => {" + line + "});\n"
			n++
		}
		return spec, n
	}
	spec, n := body(pass)
	writeFile(t, filepath.Join(dir, "a.spec.js"), spec)
	if out, code := runIn(t, dir, "node .jest/run.mjs a.spec.js"); code != 0 {
		t.Errorf("of %d that must pass, exits %d\n%s", n, code, out)
	}
	spec, n = body(fail)
	writeFile(t, filepath.Join(dir, "a.spec.js"), spec)
	if out, code := runIn(t, dir, "node .jest/run.mjs a.spec.js"); code != 1 || strings.Count(out, "FAIL: ") != n {
		t.Errorf("of %d that must fail, exits %d\n%s", n, code, out)
	}
	for name, spec := range map[string]string{
		"no test": "", "a skipped test": "xtest('x', () => {});", "no module": "import './nothing';", "bad syntax": "test('x', () => {",
		"an end of its own": "test('x', () => { process.reallyExit(0); });", "never settled": "test('x', () => new Promise(() => {}));",
		"ends on load": "process.exit(0);",
	} {
		writeFile(t, filepath.Join(dir, "a.spec.js"), spec)
		out, code := runIn(t, dir, "node .jest/run.mjs a.spec.js")
		if code == 0 {
			t.Errorf("%s: exits 0\n%s", name, out)
		}
	}
	order := `const log = [];
beforeAll(() => log.push('all'));
beforeEach(() => log.push('each'));
describe('inner', () => { beforeEach(() => log.push('in')); afterEach((done) => { log.push('out'); done(); }); test('x', () => log.push('x')); });
test('y', async () => { expect(log).toEqual(['all', 'each', 'in', 'x', 'out', 'each']); });
`
	writeFile(t, filepath.Join(dir, "a.spec.js"), order)
	if out, code := runIn(t, dir, "node .jest/run.mjs a.spec.js"); code != 0 || !strings.Contains(out, "2 of 2 tests passed") {
		t.Errorf("hooks: exits %d\n%s", code, out)
	}
}
