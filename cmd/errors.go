package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

// exitCode ends a command whose result is already written: the verdict is no error, so nothing more is said.
type exitCode int

// Error satisfies the error interface; it is never shown.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError says that the command line, the environment or dmpl.yaml is wrong.
type usageError struct{ message, hint string }

// Error gives the message without the hint.
func (e *usageError) Error() string { return e.message }

func usage(hint, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), hint: hint}
}

// outputError says that the result could not be written: a full disk, a closed pipe.
type outputError struct{ err error }

// Error names the cause.
func (e outputError) Error() string { return "cannot write the result: " + e.err.Error() }

// panicked is a fault of dmpl itself.
type panicked struct{ cause any }

// Error names the cause without the stack.
func (p panicked) Error() string { return fmt.Sprint("internal error: ", p.cause) }

// failure is what an error means to the user.
type failure struct {
	code          int
	message, hint string
}

// failureOf is the one place that maps an error to exit code, message and hint (CONTRACT Z2).
func failureOf(err error) failure {
	var (
		code    exitCode
		wrong   *usageError
		problem *dialect.Problem
		bad     *canon.Error
		output  outputError
		broken  panicked
		store   *storeFailure
	)
	switch {
	case err == nil:
		return failure{code: finding.ExitHolds}
	case errors.As(err, &code):
		return failure{code: int(code)}
	case errors.Is(err, context.Canceled):
		return failure{finding.ExitInterrupt, "interrupted", ""}
	case errors.As(err, &wrong):
		return failure{finding.ExitTrouble, wrong.message, wrong.hint}
	case errors.As(err, &problem):
		return failureOfProblem(*problem)
	case errors.As(err, &bad):
		return failureOfProblem(problemOf("input", bad))
	case errors.As(err, &store):
		return failure{store.exit, store.Error(), finding.Lookup(store.code).Action}
	case errors.As(err, &output):
		return failure{finding.ExitTrouble, err.Error(), "Free the disk, or check what reads the output."}
	case ofPath(err):
		return failure{finding.ExitTrouble, err.Error(), "Check the path and the permissions, then run the command again."}
	case errors.As(err, &broken):
		return failure{finding.ExitTrouble, err.Error(), "This is a fault of dmpl. DMPL_DEBUG=1 prints the stack that a report should hold."}
	}
	return failure{finding.ExitTrouble, err.Error(), "dmpl --help lists the commands."}
}

// ofPath says that the system refused something about a path.
func ofPath(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

func failureOfProblem(p dialect.Problem) failure {
	if p.Path == stdin {
		p.Path = "standard input"
	}
	return failure{
		code:    finding.ExitTrouble,
		message: fmt.Sprintf("%s (%s)", p.Error(), p.Code),
		hint:    cmp.Or(finding.Lookup(p.Code).Action, "The help of the command names the members that it reads."),
	}
}

// problemOf joins the path to what canon found wrong in its bytes.
func problemOf(path string, e *canon.Error) dialect.Problem {
	return dialect.Problem{Code: finding.Code(e.Code), Path: path, Offset: e.Offset, Pointer: e.Pointer, Detail: e.Detail}
}

// fail says on Err what an error means and gives its exit code. Names and values in it come from outside, so control
// characters and line breaks are made visible (CONTRACT Z5).
func (a *App) fail(err error) int {
	f := failureOf(err)
	if f.message != "" {
		fmt.Fprintf(a.Err, "dmpl: %s\n", report.Visible(f.message))
	}
	if f.hint != "" {
		fmt.Fprintf(a.Err, "hint: %s\n", report.Visible(f.hint))
	}
	return f.code
}
