package dblgateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// maxValue is the most bytes that one value may have: an event, or a member of the snapshot (C1).
const maxValue = canon.MaxLine

// scanner finds the ends of values in a document of any length. It judges only what it needs for that: each value is then
// read strictly by who asked for it.
type scanner struct {
	path  string
	in    io.Reader
	buf   []byte
	mark  int   // buf[mark:] is still needed
	pos   int   // cursor
	end   int   // buf[:end] has been read
	base  int64 // file offset of buf[0]
	depth int   // arrays and objects that are open around the value at the cursor
	slash int   // place of the first backslash at or after the cursor where it is not before the cursor; end for none
}

func newScanner(path string, in io.Reader) *scanner {
	return &scanner{path: path, in: in, buf: make([]byte, 256<<10), slash: -1}
}

// offset gives the cursor in bytes of the file.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fill reads more behind what is still needed. The error is [io.EOF], or a problem.
func (s *scanner) fill() error {
	if s.end-s.mark > maxValue {
		return s.tooLarge()
	}
	if s.mark > 0 {
		copy(s.buf, s.buf[s.mark:s.end])
		s.base += int64(s.mark)
		s.pos, s.end, s.mark = s.pos-s.mark, s.end-s.mark, 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	s.slash = -1
	n, err := s.in.Read(s.buf[s.end:])
	s.end += n
	switch {
	case n > 0:
		return nil
	case err == nil:
		return s.fill()
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return asProblem(s.path, err)
}

func (s *scanner) tooLarge() error {
	return problem(finding.InputTooLarge, s.path, fmt.Sprintf("one event or member is larger than %d bytes", maxValue))
}

// peek passes white space and gives the byte at the cursor; 0 at the end of the input, and for a NUL, which begins nothing.
func (s *scanner) peek() (byte, error) {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
				s.pos++
			default:
				return c, nil
			}
		}
		s.mark = s.pos
		err := s.fill()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// ended says whether only white space follows.
func (s *scanner) ended() (bool, error) {
	_, err := s.peek()
	return s.pos == s.end, err
}

// value passes the value at the cursor and gives its bytes, valid until the next call, with their file offset. Of a value that
// the input cuts off it gives what is there: who reads it strictly says what is missing.
func (s *scanner) value() (raw []byte, start int64, err error) {
	first, err := s.peek()
	if err != nil {
		return nil, 0, err
	}
	s.mark = s.pos
	start = s.offset()
	switch first {
	case '"':
		s.pos++
		err = s.text()
	case '{', '[':
		err = s.nested()
	default:
		err = s.scalar()
	}
	if errors.Is(err, io.EOF) {
		s.pos, err = s.end, nil
	}
	if err == nil && s.pos-s.mark > maxValue {
		err = s.tooLarge()
	}
	return s.buf[s.mark:s.pos], start, err
}

// ahead gives what is in memory from the cursor on.
func (s *scanner) ahead() []byte { return s.buf[s.pos:s.end] }

// pass passes the first n bytes of ahead, as value does.
func (s *scanner) pass(n int) (raw []byte, start int64) {
	s.mark, start = s.pos, s.offset()
	s.pos += n
	return s.buf[s.mark:s.pos], start
}

// text passes the rest of a string literal, the cursor behind its first quote.
func (s *scanner) text() error {
	quote := -1
	for {
		if quote < s.pos {
			quote = s.find('"')
		}
		if s.slash < s.pos {
			s.slash = s.find('\\')
		}
		switch {
		case s.slash < quote && s.slash+1 < s.end:
			s.pos = s.slash + 2
		case quote < s.slash || quote < s.end:
			s.pos = quote + 1
			return nil
		default: // the literal, or the escape at its end, goes on behind what has been read
			s.pos = min(quote, s.slash)
			if err := s.fill(); err != nil {
				return err
			}
			quote = -1
		}
	}
}

// find gives the place of the next byte c at or after the cursor; end for none.
func (s *scanner) find(c byte) int {
	if i := bytes.IndexByte(s.buf[s.pos:s.end], c); i >= 0 {
		return s.pos + i
	}
	return s.end
}

// nested passes an array or an object by counting what opens and closes.
func (s *scanner) nested() error {
	for depth := 0; ; {
		for s.pos < s.end {
			c := s.buf[s.pos]
			s.pos++
			switch c {
			case '"':
				if err := s.text(); err != nil {
					return err
				}
			case '{', '[':
				if depth++; s.depth+depth > canon.MaxDepth {
					return s.tooDeep()
				}
			case '}', ']':
				if depth--; depth == 0 {
					return nil
				}
			}
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

func (s *scanner) tooDeep() error {
	return &dialect.Problem{
		Code: finding.CanonTooDeep, Path: s.path, Offset: offset(s.offset() - 1),
		Detail: fmt.Sprintf("nesting is deeper than %d", canon.MaxDepth),
	}
}

func (s *scanner) scalar() error {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch s.buf[s.pos] {
			case ' ', '\t', '\n', '\r', ',', ':', ']', '}':
				return nil
			}
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// unexpected says what was expected at the cursor.
func (s *scanner) unexpected(pointer, want string) error {
	found := "the end of the input"
	if s.pos < s.end {
		found = string(canon.Quote(nil, bytes.ToValidUTF8(s.buf[s.pos:s.pos+1], []byte("\uFFFD"))))
	}
	return &dialect.Problem{
		Code: finding.CanonInvalidJSON, Path: s.path, Offset: offset(s.offset()), Pointer: pointer,
		Detail: "expected " + want + ", found " + found,
	}
}

// take passes the byte c, which must come next.
func (s *scanner) take(c byte, pointer, want string) error {
	got, err := s.peek()
	if err != nil {
		return err
	}
	if got != c {
		return s.unexpected(pointer, want)
	}
	s.pos++
	return nil
}

// list passes an array or an object whose opening byte has been taken: item passes each element or member.
func (s *scanner) list(closing byte, pointer string, item func(i int) error) error {
	s.depth++
	defer func() { s.depth-- }()
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == closing {
		s.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		c, err := s.peek()
		if err != nil {
			return err
		}
		switch c {
		case ',':
			s.pos++
		case closing:
			s.pos++
			return nil
		default:
			return s.unexpected(pointer, "a comma or "+string(closing))
		}
	}
}
