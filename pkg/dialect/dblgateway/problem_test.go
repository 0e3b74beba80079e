package dblgateway_test

import (
	"errors"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// wantProblem wants a problem of that code, and of that path where one is given.
func wantProblem(t *testing.T, err error, code finding.Code, path string) *dialect.Problem {
	t.Helper()
	var p *dialect.Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v is no problem", err)
	}
	if p.Code != code || path != "" && p.Path != path {
		t.Errorf("%s for %s (%v), want %s for %s", p.Code, p.Path, p, code, path)
	}
	return p
}
