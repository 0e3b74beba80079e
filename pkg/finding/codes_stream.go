package finding

// streamEntries are the codes about one event stream.
var streamEntries = []Entry{}
