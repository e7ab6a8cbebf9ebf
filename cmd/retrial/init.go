package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	_ "embed"
)

//go:embed starter.yaml
var starter []byte

func initCommand() command {
	return command{
		name: "init", args: "[DIR]", brief: "write a design to start from",
		long: "Writes design.yaml into DIR (the working folder if none is given): a small design that\nruns as it stands, every field explained. Nothing is overwritten.",
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, env *environment, args []string) error {
				dir := "."
				switch len(args) {
				case 0:
				case 1:
					dir = args[0]
				default:
					return usagef("init takes at most one folder")
				}
				return writeStarter(env, dir)
			}
		},
	}
}

func writeStarter(env *environment, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	path := filepath.Join(dir, "design.yaml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists and is left as it is", path)
	}
	if err != nil {
		return fmt.Errorf("write design: %w", err)
	}
	_, err = f.Write(starter)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write design: %w", err)
	}
	fmt.Fprintf(env.stdout, "wrote %s\nnext: retrial run %s\n", path, shellQuote(path))
	return nil
}
