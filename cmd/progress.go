package cmd

import (
	"github.com/schollz/progressbar/v3"
)

// progress shows how many of total steps are done, on a terminal that somebody watches and nowhere else.
// The caller calls step after each and done at the end, before anything else is written.
func (a *App) progress(total int, label string) (step, done func()) {
	if total < 2 {
		return func() {}, func() {}
	}
	return a.counting(total, label, 1)
}

// progressOfEvents is progress for the events of one stream, of which nobody knows how many will come.
func (a *App) progressOfEvents(label string) (step, done func()) {
	const unknown, each = -1, 500
	return a.counting(unknown, label, each)
}

// counting draws the progress after the first step and after each so many.
func (a *App) counting(total int, label string, each int) (step, done func()) {
	if !a.Terminal.Err || a.Terminal.CI || a.quiet {
		return func() {}, func() {}
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.Err),
		progressbar.OptionSetDescription(label),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
	)
	steps := 0
	step = func() {
		if steps++; steps == 1 || steps%each == 0 {
			_ = bar.Set(steps) // a bar that cannot be drawn is no reason to stop
		}
	}
	done = func() { _ = bar.Finish() }
	return step, done
}
