package cmd

import (
	"github.com/schollz/progressbar/v3"
)

// progress shows how many of total steps are done, on a terminal that somebody watches and nowhere else.
// The caller calls step after each and done at the end, before anything else is written.
func (a *App) progress(total int, label string) (step, done func()) {
	if !a.Terminal.Err || a.Terminal.CI || a.quiet || total < 2 {
		return func() {}, func() {}
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.Err),
		progressbar.OptionSetDescription(label),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
	)
	step = func() { _ = bar.Add(1) } // a bar that cannot be drawn is no reason to stop
	done = func() { _ = bar.Finish() }
	return step, done
}
