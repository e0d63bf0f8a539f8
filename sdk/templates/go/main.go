// Command tool_name is a tool of contextd.
package main

import (
	"context"
	"strings"

	"contextd"
)

// Input is what schema.json describes. contextd has checked it.
type Input struct {
	Text string `json:"text"`
}

var tool = contextd.NewTool("tool_name", count)

func main() {
	contextd.Serve(tool)
}

func count(_ context.Context, _ *contextd.Call, input Input) (contextd.Output, error) {
	words := len(strings.Fields(input.Text))
	lines := strings.Count(input.Text, "\n") + 1
	return contextd.Output{Data: map[string]any{"words": words, "lines": lines}}, nil
}
