package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/finding"
)

// Tree gives the command tree as the process would use it, with what cobra adds.
func (a *App) Tree() *cobra.Command { return a.rootCommand(nil) }

// Interruptible runs one command line as the process would.
func (a *App) Interruptible(args []string) int {
	a.alone = true
	defer func() { a.alone = false }()
	return a.Run(args)
}

// FillFlags applies the environment and dmpl.yaml to a command's flags.
func (a *App) FillFlags(c *cobra.Command) error { return a.fillFlags(c) }

// Emit writes a report as the flags given would.
func (a *App) Emit(r finding.Report, args ...string) error {
	var o reportOptions
	c := &cobra.Command{Use: "test"}
	o.bind(c)
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	return a.emit(r, o)
}

// Progress draws a progress bar.
func (a *App) Progress(total int, label string) (step, done func()) { return a.progress(total, label) }

// Fail says what an error means and gives its exit code.
func (a *App) Fail(err error) int { return a.fail(err) }
