package tasks

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retrial/tasks/text"
)

const wordTask = `-- task.yaml --
id: word
instruction: Write a word.
examples:
  - prompt: |

      And one with s?
    reply: |
      stone

  - {prompt: Another., reply: sugar}
verify: builtin:text/five-letter-word
-- workspace/answer.txt --
-- solution/answer.txt --
bread
`

func TestExamples(t *testing.T) {
	k := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), wordTask)).Tasks[0]
	if want := []Example{{"And one with s?", "stone"}, {"Another.", "sugar"}}; !slices.Equal(k.Examples, want) {
		t.Errorf("examples %q, want %q", k.Examples, want)
	}
	if k.AnswerFile() != "answer.txt" || !slices.Equal(k.Editable, []string{"answer.txt"}) {
		t.Errorf("answer file %q, editable %q", k.AnswerFile(), k.Editable)
	}
	other := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), strings.Replace(wordTask, "sugar", "spade", 1))).Tasks[0]
	if other.Hash == k.Hash {
		t.Error("the hash does not depend on the examples")
	}
	if plain := load(t, write(t, filepath.Join(t.TempDir(), "a.txtar"), sound)).Tasks[0]; plain.Examples != nil || plain.AnswerFile() != "" {
		t.Errorf("a task without examples has %q, answer file %q", plain.Examples, plain.AnswerFile())
	}
}

func TestTextTaskFaults(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"five-letter-word", "five-letter-wrd", `a.txtar:12: unknown checker "builtin:text/five-letter-wrd" (did you mean "builtin:text/five-letter-word"?)`},
		{"five-letter-word", "FIVE-letter-word", `a.txtar:12: unknown checker "builtin:text/FIVE-letter-word" (did you mean "builtin:text/five-letter-word"?)`},
		{"five-letter-word", "make", `a.txtar:12: unknown checker "builtin:text/make" (did you mean "builtin:text/make-24"?)`},
		{"builtin:text/five", "builtin:txt/five", `a.txtar:12: unknown checker "builtin:txt/five-letter-word" (did you mean "builtin:text/five-letter-word"?)`},
		{"five-letter-word", "five-letter-word now", `a.txtar:12: unknown checker "builtin:text/five-letter-word now" (did you mean "builtin:text/five-letter-word"?)`},
		{"-word\n", "-word\nscore: builtin:text/make-25\n", `a.txtar:13: unknown checker "builtin:text/make-25" (did you mean "builtin:text/make-24"?)`},
		{"workspace/answer.txt", "workspace/reply.txt", `a.txtar:12: builtin:text/five-letter-word reads answer.txt: it has to be the one editable file`},
		{"-- solution", "-- workspace/b.txt --\n-- solution", `a.txtar:12: builtin:text/five-letter-word reads answer.txt: it has to be the one editable file`},
		{"verify: builtin:text/five-letter-word", "editable: [b.txt]\nverify: 'true'\nscore: builtin:text/make-24", `a.txtar:12: editable names "b.txt", which is not in workspace/`},
		{"reply: sugar", "reply: ''", `a.txtar:11: example 2 needs a prompt and a reply`},
		{"prompt: Another.", "prompt: ' '", `a.txtar:11: example 2 needs a prompt and a reply`},
		{", reply: sugar", "", `a.txtar:11: example 2 needs a prompt and a reply`},
		{"reply: sugar", "answer: sugar", `a.txtar:11: examples[1]: unknown key "answer" (valid: prompt, reply)`},
		{"{prompt: Another., reply: sugar}", "sugar", `a.txtar:11: examples[1]: want keys with values, got "sugar"`},
	} {
		broken := strings.Replace(wordTask, c.old, c.new, 1)
		_, err := Load(write(t, filepath.Join(t.TempDir(), "a.txtar"), broken), "")
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || broken == wordTask {
			t.Errorf("%s -> %s: %v\nwant …%s", c.old, c.new, err, c.want)
		}
	}
}

// The schema of task.yaml knows the examples.
func TestSchemaOfExamples(t *testing.T) {
	schema := taskSchema(t)
	const least = "id: a\ninstruction: b\nverify: c\nexamples: "
	for yaml, sound := range map[string]bool{
		"": true, "[]": true, "[{prompt: a, reply: b}]": true, "[{prompt: a, reply: b}, {prompt: ' a', reply: b}]": true,
		"a": false, "[a]": false, "[~]": false, "[{prompt: a}]": false, "[{reply: a}]": false, "[{prompt: '', reply: b}]": false,
		"[{prompt: a, reply: ' '}]": false, "[{prompt: a, reply: ~}]": false, "[{prompt: a, reply: b, more: c}]": false, "{prompt: a, reply: b}": false,
	} {
		if parser, schemas := parses(least+yaml+"\n"), schema.Validate([]byte(least+yaml+"\n")); (parser == nil) != sound || (schemas == nil) != sound {
			t.Errorf("%s\nparser: %v\nschema: %v", yaml, parser, schemas)
		}
	}
}

// family is the tag that names a text task's family.
func family(k *Task) string { return k.Tags[1] }

// TestTextCorpus: as many tasks and families as are promised, each task with a
// checker of its name and each checker with its task.
func TestTextCorpus(t *testing.T) {
	list := load(t, "builtin:text").Tasks
	families, levels := map[string]int{}, map[string]int{}
	var ids []string
	examples := 0
	for _, k := range list {
		if len(k.Tags) != 3 || k.Tags[0] != "text" || !slices.Contains([]string{"easy", "medium", "hard"}, k.Tags[2]) {
			t.Fatalf("%s has the tags %q, want text, a family and a level", k.ID, k.Tags)
		}
		ids = append(ids, k.ID)
		families[family(k)]++
		levels[k.Tags[2]]++
		if k.Verify != text.Prefix+k.ID {
			t.Errorf("%s: verify is %q", k.ID, k.Verify)
		}
		if !strings.Contains(k.Instruction, "whole reply") {
			t.Errorf("%s: the instruction does not say that the whole reply is the answer", k.ID)
		}
		if len(k.Examples) > 0 {
			examples++
		}
	}
	if len(list) < 60 || len(families) < 12 || examples < 10 {
		t.Errorf("%d tasks in %d families, %d with examples; want 60, 12, 10", len(list), len(families), examples)
	}
	for level, n := range levels {
		if n < 15 {
			t.Errorf("%d %s tasks", n, level)
		}
	}
	if names := text.Names(); !slices.Equal(names, ids) {
		t.Errorf("checkers %q\ntasks %q", names, ids)
	}
}

// twoAnswers are the tasks that have two possible answers: an example has to
// show one of them.
var twoAnswers = []string{"animal-or-tool", "boolean-or", "odd-or-even"}

// rightForBoth are tasks that take the solution of another by its own right.
var rightForBoth = map[string]string{"five-times-o": "no-letter-k", "five-letter-word": "plural-of-box"}

// TestTextSolutions: every solution passes its checker, the untouched workspace
// does not, no reply of an example does, and no other task's solution either, but
// for rightForBoth.
func TestTextSolutions(t *testing.T) {
	list := load(t, "builtin:text").Tasks
	answer := func(k *Task, tree fs.FS) string {
		data, err := fs.ReadFile(tree, text.AnswerFile)
		if err != nil {
			t.Fatalf("%s: %v", k.ID, err)
		}
		return string(data)
	}
	check := func(k *Task, answer string) []string {
		problems, err := text.Check(k.ID, answer)
		if err != nil {
			t.Fatal(err)
		}
		return problems
	}
	for _, k := range list {
		if problems := check(k, answer(k, k.Solution)); problems != nil {
			t.Errorf("%s: the solution has problems: %q", k.ID, problems)
		}
		if check(k, answer(k, k.Workspace)) == nil {
			t.Errorf("%s: the untouched workspace passes", k.ID)
		}
		for _, other := range list {
			if other != k && rightForBoth[k.ID] != other.ID && check(k, answer(other, other.Solution)) == nil {
				t.Errorf("%s takes the solution of %s", k.ID, other.ID)
			}
		}
		for _, e := range k.Examples {
			if !slices.Contains(twoAnswers, k.ID) && check(k, e.Reply) == nil {
				t.Errorf("%s: the reply %q of an example is an answer", k.ID, e.Reply)
			}
		}
	}
}

// TestTextGroups: only re-draws of one template share a group, that of their
// family; the instructions of tasks that stand alone are not alike.
func TestTextGroups(t *testing.T) {
	list := load(t, "builtin:text").Tasks
	grouped := 0
	for i, k := range list {
		if k.Group != k.ID {
			grouped++
			if k.Group != family(k) {
				t.Errorf("%s has the group %s, its family is %s", k.ID, k.Group, family(k))
			}
		}
		for _, other := range list[:i] {
			same := k.Group == other.Group
			if alike := overlap(k.Instruction, other.Instruction); same != (alike > 0.55) {
				t.Errorf("%s and %s: instructions have %.0f%% of their words in common, one group: %v", other.ID, k.ID, 100*alike, same)
			}
		}
	}
	if grouped > len(list)/10 {
		t.Errorf("%d of %d tasks are re-draws", grouped, len(list))
	}
}

// overlap is the Jaccard similarity of two texts' sets of words, less the closing
// sentence that all instructions share.
func overlap(a, b string) float64 {
	set := func(s string) map[string]bool {
		out := map[string]bool{}
		s, _, _ = strings.Cut(s, "Your whole reply")
		for _, w := range strings.Fields(s) {
			out[strings.ToLower(w)] = true
		}
		return out
	}
	of, in := set(a), set(b)
	both := 0
	for w := range of {
		if in[w] {
			both++
		}
	}
	return float64(both) / float64(len(of)+len(in)-both)
}

// TestHashHoldsCheckers: what the checkers say is part of a task that they judge,
// by verify or by score, and of no other.
func TestHashHoldsCheckers(t *testing.T) {
	plain := (&Task{Verify: "true", Score: "true"}).hash(nil)
	for _, k := range []*Task{{Verify: text.Prefix + "a"}, {Verify: "true", Score: text.Prefix + "a"}} {
		if k.hash(nil) == plain {
			t.Errorf("verify %q, score %q: the hash holds no version", k.Verify, k.Score)
		}
	}
	if (&Task{Verify: "false"}).hash(nil) != plain {
		t.Error("the hash of a task without a checker holds more than its files")
	}
}
