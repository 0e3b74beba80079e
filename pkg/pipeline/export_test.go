package pipeline

// ReadConstraints lets tests read constraints without a stage around them.
var ReadConstraints = readConstraints

// ReadSnapshot lets tests read a snapshot without a stage around it.
var ReadSnapshot = readSnapshot
