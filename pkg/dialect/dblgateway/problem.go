package dblgateway

import (
	"errors"
	"math"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// problem is a problem of the whole input.
func problem(code finding.Code, path, detail string) *dialect.Problem {
	return &dialect.Problem{Code: code, Path: path, Offset: -1, Detail: detail}
}

// misread turns a reading error into a problem. The text that was read starts at offset base of the file, under pointer;
// a base below 0 says that the file has no such offset.
func misread(path string, bad *canon.Error, base int64, pointer string) *dialect.Problem {
	p := &dialect.Problem{Code: finding.Code(bad.Code), Path: path, Offset: -1, Pointer: pointer + bad.Pointer, Detail: bad.Detail}
	// The place of the first name counts from the text that was read, which means nothing in the file.
	p.Detail, _, _ = strings.Cut(p.Detail, ", first at byte")
	if base >= 0 {
		p.Offset = offset(base + int64(bad.Offset))
	}
	return p
}

// offset gives a file offset as a problem holds it: -1 where an int has too few bits.
func offset(n int64) int {
	if n > math.MaxInt {
		return -1
	}
	return int(n)
}

// shifted moves a reading error of a part to the document that the part starts in.
func shifted(err error, start int, pointer string) error {
	bad := *errorOf(err)
	bad.Offset += start
	bad.Pointer = pointer + bad.Pointer
	return &bad
}

// errorOf gives the reading error in err; nil for none.
func errorOf(err error) *canon.Error {
	var bad *canon.Error
	errors.As(err, &bad)
	return bad
}
