package dialect

import "syscall"

// hugePages asks the kernel for large pages behind a large buffer: reading ten megabytes then takes a few page faults in
// place of thousands. It is a hint; where it is refused nothing changes.
func hugePages(buffer []byte) {
	const worthwhile = 4 << 20
	if cap(buffer) >= worthwhile {
		_ = syscall.Madvise(buffer[:cap(buffer)], syscall.MADV_HUGEPAGE)
	}
}
