// Command dmpl proves or refutes that runs of an AI agent are deterministic, from their recorded traces.
package main

import (
	"os"

	"github.com/dmpl/dmpl/cmd"
)

func main() {
	os.Exit(cmd.Main())
}
