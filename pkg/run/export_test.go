package run

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/trace"
)

// Dying is a file system that stops after some operations, as a process that is killed does. The last write may be half done.
type Dying struct {
	Left int  // operations until the end
	Half bool // the write that the end falls on leaves half of its bytes
	Done int  // operations so far
}

var errDead = errors.New("the process is dead")

func (d *Dying) alive() bool {
	d.Left--
	d.Done++
	return d.Left >= 0
}

func (d *Dying) mkdir(path string) error {
	if !d.alive() {
		return errDead
	}
	return local{}.mkdir(path)
}

func (d *Dying) empty(path string) (bool, error) { return local{}.empty(path) }

func (d *Dying) create(path string) (file, error) {
	if !d.alive() {
		return nil, errDead
	}
	f, err := local{}.create(path)
	return &dyingFile{d, f}, err
}

func (d *Dying) rename(from, to string) error {
	if !d.alive() {
		return errDead
	}
	return local{}.rename(from, to)
}

func (d *Dying) syncFolder(path string) error {
	if !d.alive() {
		return errDead
	}
	return local{}.syncFolder(path)
}

type dyingFile struct {
	disk *Dying
	file
}

func (f *dyingFile) Write(text []byte) (int, error) {
	if !f.disk.alive() {
		if f.disk.Left == -1 && f.disk.Half {
			f.file.Write(text[:len(text)/2]) // nobody is left to hear of an error
		}
		return 0, errDead
	}
	return f.file.Write(text)
}

func (f *dyingFile) Sync() error {
	if !f.disk.alive() {
		return errDead
	}
	return f.file.Sync()
}

// CreateOn starts a run on a file system that dies.
func CreateOn(d *Dying, dir string, o Opening) (*Writer, error) {
	return create(d, caps{trace.MaxPart, trace.MaxRun}, dir, o)
}

// CreateWithin starts a run with other caps.
func CreateWithin(part, all int64, dir string, o Opening) (*Writer, error) {
	return create(local{}, caps{part, all}, dir, o)
}
