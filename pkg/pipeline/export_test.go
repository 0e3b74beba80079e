package pipeline

// ReadConstraints lets tests read constraints without a stage around them.
var ReadConstraints = readConstraints
