package run

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/canon"
)

// parts is a list of documents in parts of bounded size.
type parts struct {
	folder      string
	count       int // parts begun
	size, total int64
}

// add writes a line to the last part, or to a new one where it would not fit.
func (p *parts) add(w *Writer, line []byte) error {
	if p.count == 0 {
		if err := w.disk.mkdir(filepath.Join(w.dir, p.folder)); err != nil {
			return err
		}
	}
	if p.count == 0 || p.size+int64(len(line)) > w.caps.part {
		if p.count > 0 {
			if err := w.finish(w.open[part(p.folder, p.count-1)]); err != nil {
				return err
			}
		}
		p.count++
		p.size = 0
	}
	out, err := w.file(part(p.folder, p.count-1))
	if err != nil {
		return err
	}
	p.size += int64(len(line))
	p.total += int64(len(line))
	return out.write(line)
}

// lineOf gives a document as a line: it must stand on one already.
func lineOf(text []byte) ([]byte, error) {
	if err := canon.Valid(text); err != nil {
		return nil, err
	}
	if bytes.ContainsRune(text, '\n') {
		return nil, errors.New("a document of a line must not hold a line feed")
	}
	return append(bytes.Clone(text), '\n'), nil
}

// withMember adds a member at the end of an object.
func withMember(object []byte, name string, value []byte) ([]byte, error) {
	trimmed := bytes.TrimSpace(object)
	if len(trimmed) < 2 || trimmed[0] != '{' || trimmed[len(trimmed)-1] != '}' {
		return nil, errors.New("expected an object")
	}
	body := bytes.TrimSpace(trimmed[1 : len(trimmed)-1])
	out := append([]byte{'{'}, body...)
	if len(body) > 0 {
		out = append(out, ',')
	}
	out = append(canon.Quote(out, []byte(name)), ':')
	return append(append(out, value...), '}'), nil
}
