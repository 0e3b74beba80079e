package pipeline

// The readers and writers of parsed outputs, for tests without a stage around them.
var (
	ReadMutations  = readMutations
	WriteMutations = writeMutations
	ReadIntents    = readIntents
	WriteIntents   = writeIntents
)

// ParserPreset gives the configuration of a name.
func ParserPreset(name string) (ParserConfig, bool) {
	c, ok := parserPresets[name]
	return c, ok
}
