//go:build !linux

package dialect

func hugePages([]byte) {}
