package cmd

import (
	"os"

	"golang.org/x/term"
)

// Terminal is what is known about the place that the output goes to. The zero value is a plain file or pipe.
type Terminal struct {
	Out, Err bool // the stream is a terminal
	Width    int  // columns of Out; 0 where unknown
	Plain    bool // NO_COLOR, or a terminal that knows no colours
	CI       bool // a build machine: nobody watches
}

func terminalOf(out, errs *os.File) Terminal {
	t := Terminal{
		Out:   term.IsTerminal(int(out.Fd())),
		Err:   term.IsTerminal(int(errs.Fd())),
		Plain: os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		CI:    os.Getenv("CI") != "",
	}
	if t.Out {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			t.Width = width
		}
	}
	return t
}

// colored says whether results carry colour: --color decides, and without it the terminal.
func (a *App) colored() bool {
	switch a.color.value {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return a.Terminal.Out && !a.Terminal.Plain && !a.Terminal.CI
}
