package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are those that ask for an orderly end.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// drainOnSignal closes drain at the first interrupt and cancels ctx at the
// second.
func drainOnSignal(ctx context.Context, env *environment) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	drain := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals...)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		fmt.Fprintln(env.stderr, "\nretrial: finishing the attempts being made; interrupt again to abort")
		close(drain)
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, drain, func() { signal.Stop(signals); cancel() }
}

// cancelOnSignal cancels ctx at the first interrupt.
func cancelOnSignal(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, stopSignals...)
}
