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
	inputs     int // that are read at a time; 0 for one
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
	return a.Run(os.Args[1:])
}

// Run runs one command line, without the program name, and gives its exit code (CONTRACT Z2).
func (a *App) Run(args []string) int {
	return a.fail(a.guarded(func() error { return a.execute(args) }))
}

// interruptible ends what a command does as soon as the user asks for it (CONTRACT Z2): whatever dmpl writes to disk is
// safe against a crash, so nothing waits for a long computation to notice.
func (a *App) interruptible(do func() error) error {
	if !a.alone {
		return do()
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- a.guarded(do) }()
	select {
	case err := <-done:
		return err
	case <-signals:
		return context.Canceled
	}
}

// guarded makes an error of a panic.
func (a *App) guarded(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = panicked{cause: cause}
			if os.Getenv("DMPL_DEBUG") != "" {
				fmt.Fprintf(a.Err, "%s", debug.Stack())
			}
		}
	}()
	return do()
}

func (a *App) execute(args []string) error {
	root := a.rootCommand(args)
	// cobra reads the arguments of the process where it is given nil.
	root.SetArgs(append([]string{}, args...))
	return root.ExecuteContext(context.Background())
}
