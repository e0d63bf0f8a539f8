package main

import (
	"context"
	"reflect"
	"testing"

	"contextd"
)

func TestCountsWordsAndLines(t *testing.T) {
	output, err := tool.Run(context.Background(), contextd.Call{}, Input{Text: "one two\nthree"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"words": 3, "lines": 2}; !reflect.DeepEqual(output.Data, want) {
		t.Errorf("got %v, want %v", output.Data, want)
	}
}
