package harness

import (
	"fmt"

	"retrial/harness/workspace"
	"retrial/results"
	"retrial/tasks"
)

// restore puts protected files back before a verdict and logs those that had
// been changed, by the solver or by its code while verify ran it: how many of
// their lines are gone, stand changed, or are new.
func (a *attempt) restore(before string) error {
	was, err := a.ws.Protected(a.m.task.Protect, a.m.pristine)
	if err != nil {
		return err
	}
	changed, err := a.ws.Restore(a.m.task.Protect)
	if err != nil {
		return fmt.Errorf("restore protected files: %w", err)
	}
	if len(changed) > 0 {
		a.log(results.KindTamper, func(e *results.Event) {
			e.Detail = detail(map[string]any{"restored": changed, "before": before, "added": was.Added, "weakened": was.Weakened, "removed": was.Removed})
		})
	}
	return nil
}

// guarded runs a verdict's command between two looks at the protected files: the
// hash of what it was given, and which files of graded, the tree that it is to
// judge by, at the given paths stand changed once it ended. They are the verdict
// event's detail. A file that the command itself adds is no change.
func (a *attempt) guarded(paths []string, graded *workspace.Tree, run func() (tasks.Verdict, error)) (v tasks.Verdict, seen string, err error) {
	before, err := a.ws.Protected(a.m.task.Protect, a.m.pristine)
	if err != nil {
		return v, "", err
	}
	if v, err = run(); err != nil {
		return v, "", err
	}
	after, err := a.ws.Protected(paths, graded)
	if err != nil {
		return v, "", err
	}
	told := map[string]any{"protected_sha": before.SHA}
	if len(after.Changed) > 0 {
		told["protected_changed"] = after.Changed
	}
	return v, detail(told), nil
}
