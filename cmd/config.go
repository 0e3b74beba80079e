package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/dmpl/dmpl/pkg/dialect"
)

const (
	configName  = "dmpl.yaml"
	configLimit = 1 << 20 // bytes
	envPrefix   = "DMPL"
)

// settings are what the environment and dmpl.yaml say; the environment beats the file.
type settings struct {
	viper *viper.Viper
	file  []byte
}

// fillFlags sets each flag that the command line leaves open from the environment, else from dmpl.yaml.
func (a *App) fillFlags(c *cobra.Command) error {
	s, err := readSettings(filepath.Join(a.Dir, configName))
	if err != nil {
		return err
	}
	if err := s.checkKeys(); err != nil {
		return err
	}
	var failed error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if failed == nil && !f.Changed && f.Name != "help" {
			failed = s.fill(c.Flags(), f)
		}
	})
	return failed
}

func readSettings(path string) (settings, error) {
	s := settings{viper: viper.New()}
	s.viper.SetConfigType("yaml")
	s.viper.SetEnvPrefix(envPrefix)
	s.viper.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	s.viper.AutomaticEnv()
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	f, err := dialect.ReadFile(path, nil, configLimit)
	if err != nil {
		return s, configError("%s", strings.TrimPrefix(err.Error(), path+": "))
	}
	s.file = f.Data
	if err := s.viper.ReadConfig(bytes.NewReader(f.Data)); err != nil {
		return s, configError("%s", yamlReason(err))
	}
	return s, nil
}

func configError(format string, args ...any) error {
	return usage("Correct the file; dmpl reads it in the working directory only.", configName+": "+format, args...)
}

// yamlReason gives "line N: …" without the names of the libraries in between.
func yamlReason(err error) string {
	var parse viper.ConfigParseError
	if errors.As(err, &parse) {
		err = parse.Unwrap()
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:")
	return strings.Join(strings.Fields(text), " ")
}

// checkKeys refuses a key that no command has a flag for: a misspelt setting must not pass in silence.
func (s settings) checkKeys() error {
	keys := slices.Sorted(slices.Values(s.viper.AllKeys()))
	if len(keys) == 0 {
		return nil
	}
	known := map[string]bool{}
	collectFlags(new(App).rootCommand(nil), known)
	for _, key := range keys {
		if !known[key] {
			return configError("%s: no command has such a flag", s.where(key))
		}
		if s.viper.Get(key) == nil {
			return configError("%s: the key has no value", s.where(key))
		}
	}
	return nil
}

func collectFlags(c *cobra.Command, names map[string]bool) {
	note := func(f *pflag.Flag) { names[f.Name] = f.Name != "help" }
	c.LocalNonPersistentFlags().VisitAll(note)
	c.PersistentFlags().VisitAll(note)
	for _, sub := range c.Commands() {
		collectFlags(sub, names)
	}
}

// explicit are the flags that nothing but the command line sets: each takes something away that a person must have asked for (R4, M6).
var explicit = []string{"update", "abort"}

// fill sets one flag, through pflag so that the value is judged as on the command line.
func (s settings) fill(flags *pflag.FlagSet, f *pflag.Flag) error {
	if !s.viper.IsSet(f.Name) {
		return nil
	}
	source, value := configName+": "+s.where(f.Name), s.viper.Get(f.Name)
	if env := envName(f.Name); os.Getenv(env) != "" {
		source = env
		if _, ok := f.Value.(pflag.SliceValue); ok {
			value = splitList(os.Getenv(env))
		}
	}
	if slices.Contains(explicit, f.Name) {
		return usage("Take the setting away, and give the flag where it is meant.", "%s: --%s is taken from the command line alone", source, f.Name)
	}
	if err := set(flags, f, value); err != nil {
		return usage("Correct the setting, or give the flag on the command line.", "%s: %s", source, err)
	}
	return nil
}

func set(flags *pflag.FlagSet, f *pflag.Flag, value any) error {
	items, isList := value.([]any)
	list, takesList := f.Value.(pflag.SliceValue)
	switch {
	case takesList && isList:
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = fmt.Sprint(item)
		}
		f.Changed = true
		return list.Replace(texts)
	case takesList:
		f.Changed = true
		return list.Replace([]string{fmt.Sprint(value)})
	case isList:
		return fmt.Errorf("--%s takes one value, not a list", f.Name)
	}
	return flags.Set(f.Name, fmt.Sprint(value))
}

func splitList(text string) []any {
	var items []any
	for item := range strings.SplitSeq(text, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return items
}

func envName(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// where names a key of dmpl.yaml with its line, as far as a look at the text can tell.
func (s settings) where(key string) string {
	top, _, _ := strings.Cut(key, ".")
	line := 0
	for text := range strings.Lines(string(s.file)) {
		line++
		name, _, found := strings.Cut(text, ":")
		if found && strings.EqualFold(strings.Trim(strings.TrimSpace(name), `"'`), top) {
			return fmt.Sprintf("line %d: %s", line, key)
		}
	}
	return key
}
