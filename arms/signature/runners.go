package signature

// runner is a test runner whose output can be read.
type runner struct {
	Name      string
	Recognise func(lines []string) bool   // whether this runner wrote the lines
	Parse     func(lines []string) Report // what they say; called for lines recognised
}

// runners in the order they are asked: the more particular a runner's marks,
// the earlier; what wraps another runner's output before what it wraps.
var runners []runner

func init() { // not a literal: ctest and prove read what they wrap through Read
	runners = []runner{
		{"junit-xml", isJUnit, parseJUnit},
		{"go-json", isGoJSON, parseGoJSON},
		{"ctest", isCTest, parseCTest},
		{"surefire", isSurefire, parseSurefire},
		{"pytest", isPytest, parsePytest},
		{"unittest", isUnittest, parseUnittest},
		{"cargo", isCargo, parseCargo},
		{"gtest", isGTest, parseGTest},
		{"vitest", isVitest, parseVitest},
		{"jest", isJest, parseJest},
		{"go", isGo, parseGo},
		{"node", isNode, parseNode},
		{"bats", isBats, parseBats},
		{"tap", isTAP, parseTAP},
	}
}
