package cmd

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

const (
	formatText = "text"
	formatJSON = "json"
)

// reportOptions are the flags that every command with a report has.
type reportOptions struct {
	format                 choice
	noFail, allowUndecided bool
}

func (o *reportOptions) bind(c *cobra.Command) {
	addFormat(c, &o.format)
	c.Flags().BoolVar(&o.noFail, "no-fail", false, "exit 0 where it would be 1; the report keeps the verdict")
	c.Flags().BoolVar(&o.allowUndecided, "allow-undecided", false, "exit 0 where it would be 3; the report keeps the verdict")
}

func addFormat(c *cobra.Command, format *choice) {
	addChoice(c, format, "format", "output format", formatText, formatJSON)
}

// emit writes the report as the flags and the terminal ask; typed are the paths of the command line. The error carries
// the exit code where it is not 0 (CONTRACT Z2); the caller returns it as it is.
func (a *App) emit(r finding.Report, o reportOptions, typed ...string) error {
	a.showPaths(&r, typed)
	r.NoFail, r.AllowUndecided = o.noFail, o.allowUndecided
	r.Version = buildOf().Version
	out := bufio.NewWriterSize(a.Out, 64<<10)
	if err := a.write(out, r, o.format.value); err != nil {
		return outputError{err}
	}
	if err := out.Flush(); err != nil {
		return outputError{err}
	}
	if code := r.ExitCode(); code != finding.ExitHolds {
		return exitCode(code)
	}
	return nil
}

func (a *App) write(out *bufio.Writer, r finding.Report, format string) error {
	if format == formatJSON {
		return report.JSON(out, r)
	}
	return report.Text(out, r, report.TextOptions{Color: a.colored(), Quiet: a.quiet, Width: a.Terminal.Width})
}
