package main

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/contextd/contextd/sdk/go"
)

func TestTellsWhereACityIs(t *testing.T) {
	output, err := tool.Run(context.Background(), contextd.Call{}, Input{City: "Oslo"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"city": "Oslo", "latitude": 59.91, "longitude": 10.75}; !reflect.DeepEqual(output.Data, want) {
		t.Errorf("got %v, want %v", output.Data, want)
	}
}

func TestRefusesACityThatItDoesNotKnow(t *testing.T) {
	_, err := tool.Run(context.Background(), contextd.Call{}, Input{City: "Atlantis"})
	var failure *contextd.Error
	if !errors.As(err, &failure) || failure.Code != "NOT_FOUND" {
		t.Errorf("got %v, want NOT_FOUND", err)
	}
}
