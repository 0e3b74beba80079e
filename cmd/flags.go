package cmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// stdin is the file argument that means standard input.
const stdin = "-"

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

// String gives the word chosen.
func (c *choice) String() string { return c.value }

// Type is shown in help as the flag's value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set takes one of the allowed words, spelt exactly.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = s
	return nil
}

// addChoice declares the flag on the command, with its first word as default and all words as completions.
func addChoice(c *cobra.Command, target *choice, name, help string, allowed ...string) {
	*target = choice{value: allowed[0], allowed: allowed}
	c.Flags().Var(target, name, help)
	completeWords(c, name, allowed)
}

func completeWords(c *cobra.Command, name string, words []string) {
	err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag was not declared: a mistake in this package
	}
}

// byteCount is a flag that takes a number of bytes, at least 1.
type byteCount int64

// String gives the number in decimal.
func (b *byteCount) String() string { return strconv.FormatInt(int64(*b), 10) }

// Type is shown in help as the flag's value.
func (b *byteCount) Type() string { return "bytes" }

// Set takes a decimal number of bytes that the machine can hold.
func (b *byteCount) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n >= math.MaxInt {
		return errors.New("must be a number of bytes, at least 1")
	}
	*b = byteCount(n)
	return nil
}

// fileArgument allows at most one FILE; without one, standard input is meant.
func fileArgument(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("Run it once for each file.", "%s takes one file, and %d were given", c.CommandPath(), len(args))
	}
	return nil
}

func fileOf(args []string) string {
	if len(args) == 0 {
		return stdin
	}
	return args[0]
}

// noArguments refuses any argument.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(helpHint(c), "%s takes no arguments, and %q was given", c.CommandPath(), args[0])
	}
	return nil
}

func helpHint(c *cobra.Command) string {
	return c.CommandPath() + " --help tells how to use it."
}
