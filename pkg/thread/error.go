package thread

import (
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
)

// The codes of a refused resolution, verbatim from the seed (X1).
const (
	CodeRefNotFound     = "REF_NOT_FOUND"
	CodeCrossThreadRef  = "CROSS_THREAD_REF"
	CodeMaxRefsExceeded = "MAX_REFS_EXCEEDED"
	CodeEmptyRefsDenied = "EMPTY_REFS_DENIED"
)

// The codes of input that has no result. A value without canonical form has a code of canon instead.
const (
	CodeInvalidEvent    = "thread.invalid_event"
	CodeInvalidTrace    = "thread.invalid_trace"
	CodeInvalidDecision = "thread.invalid_decision"
	CodeInvalidContext  = "thread.invalid_context"
	CodeInvalidConfig   = "thread.invalid_config"
	CodeInvalidIntent   = "thread.invalid_intent"
	CodeInvalidRefs     = "thread.invalid_refs"
	CodeUnverifiable    = "thread.unverifiable" // well formed, and its result cannot be known from the stream
	CodeInvalidRules    = "thread.invalid_rules"
	CodeUnknownRule     = "thread.unknown_rule"
)

// Error says why a digest, a resolution or a context does not exist.
type Error struct {
	Code    string // one of the Code constants, or a code of canon
	Pointer string // RFC 6901, into the value that was given; empty where it is the value itself
	Detail  string // what is wrong
}

// Error gives one line: code, place and detail.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Code + ": " + e.Detail
	}
	return e.Code + " at " + e.Pointer + ": " + e.Detail
}

// Refused tells whether an error is one of the four refusals of X1: the input is in order, and the answer is no.
func Refused(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case CodeRefNotFound, CodeCrossThreadRef, CodeMaxRefsExceeded, CodeEmptyRefsDenied:
		return true
	}
	return false
}

func refusal(code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func fault(code, pointer, detail string) *Error {
	return &Error{Code: code, Pointer: pointer, Detail: detail}
}

// Read reads a document as the gateway does: profile dbl (C2), lone surrogates kept. The error is a *canon.Error.
func Read(src []byte) (canon.Value, error) { return canon.ParseAs(canon.DBL, src) }
