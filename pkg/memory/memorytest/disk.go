package memorytest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a small disk of its own, which can be filled and made read-only.
type Disk struct {
	Dir string
	t   *testing.T
}

// NewDisk mounts a disk of so many bytes in memory. Where that is not allowed the test is skipped, loudly.
func NewDisk(t *testing.T, size string) *Disk {
	t.Helper()
	dir, err := os.MkdirTemp("", "dmpl-disk") // not t.TempDir, which no other user may look into
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "dmpl-test", dir).CombinedOutput(); err != nil {
		t.Skipf("!! NOT CHECKED: no small disk can be mounted here, which needs root on Linux: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	return &Disk{dir, t}
}

// Mode mounts the disk again, rw or ro.
func (d *Disk) Mode(mode string) {
	d.t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+mode, d.Dir).CombinedOutput(); err != nil {
		d.t.Fatalf("%v %s", err, out)
	}
}

func (d *Disk) filler() string { return filepath.Join(d.Dir, "filler") }

// Fill leaves so many bytes free, rounded down to blocks of 4096.
func (d *Disk) Fill(free int64) {
	d.t.Helper()
	f, err := os.Create(d.filler())
	if err != nil {
		d.t.Fatal(err)
	}
	block, size := make([]byte, 4096), int64(0)
	for err == nil {
		_, err = f.Write(block)
		size += int64(len(block))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(max(0, size-4096-free)), f.Close()); err != nil {
		d.t.Fatal(err)
	}
}

// Free takes away what has filled the disk.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}
