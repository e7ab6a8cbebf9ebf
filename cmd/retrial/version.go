package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// version is set by the linker for a release.
var version = "dev"

// toolVersion names this build: the release, or the commit where the build
// recorded it.
func toolVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "dev" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "dev-" + s.Value[:12]
			}
		}
	}
	return version
}

func versionCommand() command {
	return command{
		name: "version", brief: "print the version", long: "Prints the version of retrial, of Go, and the platform.",
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, env *environment, args []string) error {
				if len(args) > 0 {
					return usagef("version takes no argument")
				}
				fmt.Fprintf(env.stdout, "retrial %s %s %s/%s\n", toolVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			}
		},
	}
}
