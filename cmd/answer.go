package cmd

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/thread"
)

// answerFault prints an error as JSON, where the answer would stand.
func answerFault(dst []byte, reason *canon.Error) []byte {
	detail := reason.Detail
	if reason.Pointer != "" {
		detail = "at " + reason.Pointer + ": " + detail
	}
	return append(dst, thread.ErrorDocument(reason.Code, detail)...)
}

// answer prints what a stage answers to the document in the file, or to each of its lines. A refusal (CONTRACT X1) is an
// answer too, and makes the exit code 1; input that has no answer makes it 2.
func (a *App) answer(path string, o documentOptions, stage thread.Stage) error {
	refused := false
	err := a.documents(path, o, func(dst, document []byte) ([]byte, error) {
		text, err := answerTo(document, stage)
		if thread.Refused(err) {
			refused = true
			text, err = answerFault(nil, noAnswer(err)), nil
		}
		if err != nil {
			return dst, noAnswer(err)
		}
		dst = append(dst, text...)
		if !o.jsonl {
			dst = append(dst, '\n')
		}
		return dst, nil
	})
	if err == nil && refused {
		return exitCode(finding.ExitFailed)
	}
	return err
}

func answerTo(document []byte, stage thread.Stage) ([]byte, error) {
	input, err := thread.Read(document)
	if err != nil {
		return nil, err
	}
	return stage(input)
}

// noAnswer gives the reason why a document has no answer in the form that every bad document has.
func noAnswer(err error) *canon.Error {
	var e *thread.Error
	if errors.As(err, &e) {
		return &canon.Error{Code: e.Code, Offset: -1, Pointer: e.Pointer, Detail: e.Detail}
	}
	var stopped *pipeline.Error
	if errors.As(err, &stopped) {
		return &canon.Error{Code: stopped.Code, Offset: -1, Pointer: stopped.Pointer, Detail: stopped.Detail}
	}
	var member *document.Error
	if errors.As(err, &member) {
		return &canon.Error{Code: pipeline.CodeInvalidInput, Offset: -1, Pointer: member.Pointer, Detail: member.Detail}
	}
	var bad *canon.Error
	if errors.As(err, &bad) {
		return bad
	}
	return &canon.Error{Code: thread.CodeUnverifiable, Offset: -1, Detail: err.Error()}
}
