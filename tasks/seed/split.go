package seed

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// split chooses the units that stay visible, by index, sorted: half of n,
// rounded up, at least one of those that fail and, where two or more fail, not
// all of them. ok is false where no unit could be hidden, or none fails.
func split(n int, failing []int, random *rand.Rand) (visible []int, ok bool) {
	if n < 2 || len(failing) == 0 {
		return nil, false
	}
	order := random.Perm(n)
	first, spared := -1, -1
	for _, i := range order {
		switch {
		case !slices.Contains(failing, i):
		case first < 0:
			first = i
		case spared < 0:
			spared = i
		}
	}
	visible = []int{first}
	for _, i := range order {
		if want := (n + 1) / 2; len(visible) == min(want, n-1) {
			break
		}
		if i != first && i != spared {
			visible = append(visible, i)
		}
	}
	slices.Sort(visible)
	return visible, true
}

// reduce returns the test files that lose units, by path, without all units but
// the visible ones.
func reduce(lang Language, t Tests, visible []int, files map[string]string) map[string]string {
	kept := map[[2]string]int{} // by path and block
	dropped := map[string][]Unit{}
	for i, u := range t.Units {
		if slices.Contains(visible, i) {
			kept[[2]string{u.Path, u.Block}]++
		} else {
			dropped[u.Path] = append(dropped[u.Path], u)
		}
	}
	out := map[string]string{}
	for path, units := range dropped {
		slices.SortFunc(units, func(a, b Unit) int { return cmp.Compare(a.Start, b.Start) })
		text, last, filled := "", 0, map[string]bool{}
		for _, u := range units {
			text += files[path][last:u.Start]
			if u.Alone && kept[[2]string{path, u.Block}] == 0 && !filled[u.Block] {
				text += u.Filler
				filled[u.Block] = true
			}
			last = u.End
		}
		out[path] = lang.Tidy(files[path], text+files[path][last:])
	}
	return out
}
