// Package cmd is the command line of dmpl: it wires readers, checks and renderers, and holds no domain logic.
//
// Results go to [App.Out] and nowhere else; errors, hints and progress go to [App.Err].
package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"time"
)

// App is one dmpl process: its streams, its clock and what is known about its terminal.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Now      func() time.Time
	Dir      string // the working directory: dmpl.yaml is looked for here and nowhere else
	Terminal Terminal

	color      choice
	quiet      bool
	alone      bool // in its process, so that it may set the garbage collector
	collecting collecting
}

// Main runs dmpl on the arguments, streams and environment of the process and gives its exit code (CONTRACT Z2).
func Main() int {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Now:      time.Now,
		Dir:      dir,
		Terminal: terminalOf(os.Stdout, os.Stderr),
		alone:    true,
	}
	return a.interruptible(os.Args[1:])
}

// Run runs one command line, without the program name, and gives its exit code (CONTRACT Z2).
func (a *App) Run(args []string) int {
	return a.run(context.Background(), args)
}

// interruptible ends with 130 as soon as the user asks for it (CONTRACT Z2): whatever dmpl writes to disk is
// safe against a crash, so nothing waits for a long computation to notice.
func (a *App) interruptible(args []string) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- a.run(ctx, args) }()
	select {
	case code := <-done:
		return code
	case <-signals:
		return a.fail(context.Canceled)
	}
}

func (a *App) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if cause := recover(); cause != nil {
			code = a.fail(panicked{cause: cause})
			if os.Getenv("DMPL_DEBUG") != "" {
				fmt.Fprintf(a.Err, "%s", debug.Stack())
			}
		}
	}()
	root := a.rootCommand()
	// cobra reads the arguments of the process where it is given nil.
	root.SetArgs(append([]string{}, args...))
	return a.fail(root.ExecuteContext(ctx))
}
