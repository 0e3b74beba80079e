package sqlite

import "context"

// OpenStepping opens a store that tells of every statement of an update before it runs it.
func OpenStepping(ctx context.Context, path string, step func(statement string)) (*Backend, error) {
	return open(ctx, path, true, step)
}
