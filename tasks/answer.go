package tasks

import (
	"fmt"
	"slices"
	"strings"

	"retrial/tasks/strict"
	"retrial/tasks/text"
)

// Example is one worked example: what was asked, and how it was answered.
// Blanks around both are dropped.
type Example struct {
	Prompt string `yaml:"prompt" json:"prompt" jsonschema:"required" jsonschema_description:"What was asked."`
	Reply  string `yaml:"reply" json:"reply" jsonschema:"required" jsonschema_description:"The whole reply to it."`
}

// AnswerFile is the file that the solver's whole reply becomes, in a task whose
// verify is a built-in checker; "" for every other task.
func (t *Task) AnswerFile() string {
	if _, ok := text.Name(t.Verify); ok {
		return text.AnswerFile
	}
	return ""
}

func (t *Task) setExamples(list []Example) {
	for _, e := range list {
		t.Examples = append(t.Examples, Example{strings.TrimSpace(e.Prompt), strings.TrimSpace(e.Reply)})
	}
}

// builtIn begins every command that no shell runs.
const builtIn = "builtin:"

// commands are the task's commands by their keys.
func (t *Task) commands() []struct{ key, command string } {
	return []struct{ key, command string }{{"verify", strings.TrimSpace(t.Verify)}, {"score", strings.TrimSpace(t.Score)}}
}

// validateText checks the examples, and that built-in checkers exist.
func (t *Task) validateText(fail failer) error {
	for i, e := range t.Examples {
		if e.Prompt == "" || e.Reply == "" {
			return fail(fmt.Sprintf("examples[%d]", i), "example %d needs a prompt and a reply", i+1)
		}
	}
	for _, c := range t.commands() {
		name, ok := text.Name(c.command)
		if strings.HasPrefix(c.command, builtIn) && (!ok || !slices.Contains(text.Names(), name)) {
			return fail(c.key, "unknown checker %q%s", c.command, nearestChecker(c.command, name))
		}
	}
	return nil
}

// nearestChecker proposes the checker that was probably meant: by its name, else
// by the whole command.
func nearestChecker(command, name string) string {
	commands := text.Names()
	near := strict.Nearest(name, commands)
	for i := range commands {
		commands[i] = text.Prefix + commands[i]
	}
	if near != "" {
		return fmt.Sprintf(" (did you mean %q?)", text.Prefix+near)
	}
	return nearest(command, commands)
}

// validateAnswer makes sure that the file a built-in checker reads is the one
// that the solver writes.
func (t *Task) validateAnswer(fail failer) error {
	for _, c := range t.commands() {
		if _, ok := text.Name(c.command); ok && !slices.Equal(t.Editable, []string{text.AnswerFile}) {
			return fail(c.key, "%s reads %s: it has to be the one editable file", c.command, text.AnswerFile)
		}
	}
	return nil
}
