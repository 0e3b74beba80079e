package run

import (
	"io"
	"os"
)

// disk is what the writer asks of the file system. A test stands in for it that dies after any operation.
type disk interface {
	mkdir(path string) error
	empty(path string) (bool, error)
	create(path string) (file, error)
	rename(from, to string) error
	syncFolder(path string) error
}

// file is a file that is being written.
type file interface {
	io.Writer
	Sync() error
	Close() error
}

// local is the file system of the machine.
type local struct{}

func (local) mkdir(path string) error { return os.MkdirAll(path, 0o755) }

func (local) empty(path string) (bool, error) {
	entries, err := os.ReadDir(path)
	return len(entries) == 0, err
}

// create refuses a file that is there: a run is written once.
func (local) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (local) rename(from, to string) error { return os.Rename(from, to) }

// syncFolder makes new names in a folder durable.
func (local) syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
