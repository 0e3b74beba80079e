package finding

// replayEntries are the codes about a stream or a run that is built again.
var replayEntries = []Entry{}
