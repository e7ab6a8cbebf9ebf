// Package workspace gives an attempt its own pristine copy of a tree, runs
// commands in it, takes the real patch, and reverts. It knows nothing of
// tasks, arms or trials.
//
// The path of an attempt through the package:
//
//  1. [ReadTree] loads a task's files into an immutable [Tree].
//  2. [Open] writes that tree into a fresh directory.
//  3. The solver changes it: [Workspace.WriteFiles] for edits,
//     [Workspace.Run] for commands.
//  4. [Workspace.Diff] takes the patch, before anything is put back.
//  5. [Workspace.Restore] puts the protected paths back, [Workspace.Run] runs
//     the verifier, [Workspace.Add] lays hidden tests over the tree and Run
//     runs the score.
//  6. [Workspace.Revert] makes the directory equal to the tree again, byte for
//     byte and mode for mode; [Workspace.Close] removes it.
//
// On disk a workspace is one private directory:
//
//	box-…/        mode 0700
//	    tree/     the files, Workspace.Dir; a sandboxed command sees it as /ws
//	    home/     HOME of the commands; /home/agent in the sandbox
//	    tmp/      TMPDIR of the commands; /tmp in the sandbox
//	    etc/      the passwd and group files that a sandboxed command sees
//
// Revert resets the whole box, so that nothing passes from one attempt to the
// next through HOME or TMPDIR either.
//
// Everything that touches the disk goes through [os.Root], one directory at a
// time, and never follows a symbolic link that it did not check: a solver may
// have left links to anywhere. Files are replaced, never written in place, and
// a file with a second hard link is never changed: that link may be outside.
package workspace
