package importers

import (
	_ "embed"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// jestStandIn runs spec files that use the common part of Jest, on Node alone.
//
//go:embed exercism_jest.mjs
var jestStandIn string

// jestPath is where the stand-in is put.
const jestPath = ".jest/run.mjs"

var (
	jestMatcher = regexp.MustCompile(`\.(to[A-Z]\w*)\s*\(`)
	jestKnown   = regexp.MustCompile(`(?m)^  (to[A-Z]\w*): `)
	// What the stand-in has not: mocks, tables of cases, asymmetric matchers.
	jestOther  = regexp.MustCompile(`\bjest\b\s*\.|\b(?:test|it|describe|xtest|xit)\s*\.\s*\w|\bexpect\s*\.\s*\w|\brequire\s*\(`)
	jestImport = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^;'"]*['"]([^'"\n]+)['"]|\bimport\s*\(`)
)

// exercismNode has Node alone run the spec files, by a stand-in for Jest, where
// that knows all they use and nothing else of npm is needed. Otherwise verify
// stays the track's own, which needs packages, and the tags say so.
func exercismNode(it *item, tests []string) {
	if _, taken := it.workspace[path.Dir(jestPath)]; taken || !jestEnough(*it, tests) {
		return
	}
	it.tags = slices.DeleteFunc(it.tags, func(t string) bool { return t == "needs-npm-packages" })
	it.tags = append(it.tags, "jest-stand-in")
	it.workspace[jestPath] = text(jestStandIn)
	it.protect = append(it.protect, path.Dir(jestPath))
	it.verify = "node " + jestPath + " " + strings.Join(tests, " ")
}

// jestEnough says whether the stand-in knows all that the tests use.
func jestEnough(it item, tests []string) bool {
	var known []string
	for _, m := range jestKnown.FindAllStringSubmatch(jestStandIn, -1) {
		known = append(known, m[1])
	}
	for _, p := range tests {
		if !regexp.MustCompile(`^[\w./-]+\.js$`).MatchString(p) {
			return false
		}
		s := string(it.workspace[p].data)
		if jestOther.MatchString(s) {
			return false
		}
		for _, m := range jestMatcher.FindAllStringSubmatch(s, -1) {
			if !slices.Contains(known, m[1]) {
				return false
			}
		}
		for _, m := range jestImport.FindAllStringSubmatch(s, -1) {
			if m[1] != "@jest/globals" && !strings.HasPrefix(m[1], "./") && !strings.HasPrefix(m[1], "node:") {
				return false
			}
		}
	}
	var packages struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	manifest, ok := it.workspace["package.json"]
	return !ok || json.Unmarshal(manifest.data, &packages) == nil && len(packages.Dependencies) == 0
}
