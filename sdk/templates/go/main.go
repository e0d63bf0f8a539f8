// Command tool_name is a tool of contextd.
package main

import (
	"context"
	"fmt"

	"github.com/contextd/contextd/sdk/go"
)

// Input is what schema.json describes. contextd has checked it.
type Input struct {
	City string `json:"city"`
}

// place is in degrees.
type place struct{ latitude, longitude float64 }

var cities = map[string]place{
	"Oslo":      {59.91, 10.75},
	"Nairobi":   {-1.29, 36.82},
	"São Paulo": {-23.55, -46.63},
}

var tool = contextd.NewTool("tool_name", locate)

func main() {
	contextd.Serve(tool)
}

func locate(_ context.Context, _ *contextd.Call, input Input) (contextd.Output, error) {
	found, ok := cities[input.City]
	if !ok {
		return contextd.Output{}, &contextd.Error{
			Code:    "NOT_FOUND",
			Message: fmt.Sprintf("there is no city %s", input.City),
			Remedy:  "Ask for one of these: Oslo, Nairobi, São Paulo.",
		}
	}
	data := map[string]any{"city": input.City, "latitude": found.latitude, "longitude": found.longitude}
	return contextd.Output{Data: data}, nil
}
