package cmd

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// contextConfig is the file of --context-config.
type contextConfig struct {
	thread.Config
	input   finding.Input
	unknown []string // pointers to what nobody knows
}

// readContextConfig reads a context configuration as its schema (context.config.v1) has it. The error is a
// [dialect.Problem] with the pointer of the member that is wrong.
func readContextConfig(path string, o dialect.Options) (contextConfig, error) {
	file, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return contextConfig{}, err
	}
	v, err := thread.Read(file.Data)
	if err != nil {
		return contextConfig{}, located(path, err)
	}
	config, err := thread.ParseConfig(v)
	if err != nil {
		return contextConfig{}, configProblem(path, v, err)
	}
	return contextConfig{config, file.Input(dblgateway.Name, "context_config", o.Digests), thread.UnknownInConfig(v)}, nil
}

// configProblem says what is wrong with a configuration in the words of V1.
func configProblem(path string, config canon.Value, err error) error {
	var wrong *thread.Error
	if !errors.As(err, &wrong) {
		return err
	}
	p := &dialect.Problem{Code: finding.Code(wrong.Code), Path: path, Offset: -1, Pointer: wrong.Pointer, Detail: wrong.Detail}
	if wrong.Code == thread.CodeInvalidConfig {
		p.Code = finding.ShapeValue
		if _, ok := config.At(wrong.Pointer); !ok {
			p.Code = finding.ShapeMissing
		}
	}
	return p
}
