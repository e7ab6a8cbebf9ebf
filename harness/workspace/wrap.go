package workspace

// Wrap returns what to put before the command line of a long-lived process
// that serves many workspaces under root, such as a solver's interpreter: the
// same sandbox as for commands, with root and the visible host paths readable at
// their own places and nothing writable but a private /tmp. It returns nil for None, or where there is no
// bubblewrap ([FindBubblewrap] says why).
func Wrap(s Sandbox, root string, visible []string) func(argv []string) []string {
	if s != Bubblewrap {
		return nil
	}
	bwrap, err := FindBubblewrap()
	if err != nil {
		return nil
	}
	prefix := append([]string{bwrap}, isolation()...)
	prefix = append(prefix, mounts()...)
	for _, v := range visible {
		prefix = append(prefix, "--ro-bind-try", v, v)
	}
	prefix = append(prefix, kernelMounts...)
	prefix = append(prefix, "--tmpfs", "/tmp",
		"--ro-bind", root, root, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--")
	return func(argv []string) []string { return append(append([]string(nil), prefix...), argv...) }
}

// ShownDir is what Result.Output calls the workspace, in whatever sandbox.
const ShownDir = sandboxTree
