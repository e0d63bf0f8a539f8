package contextd

import (
	"context"
	"errors"
	"testing"

	"github.com/contextd/contextd/sdk/go/contextdv1"
)

type greeting struct {
	Who string `json:"who"`
}

var hello = NewTool("hello", func(ctx context.Context, call *Call, input greeting) (Output, error) {
	switch input.Who {
	case "nobody":
		return Output{}, &Error{Code: "NOT_FOUND", Message: "there is nobody", Remedy: "Name someone."}
	case "panic":
		panic("holds a secret")
	case "late":
		<-ctx.Done()
		return Output{}, ctx.Err()
	}
	return Output{
		Data:  map[string]string{"dir": call.Dir},
		Texts: []Text{{Field: "text", Text: "hello " + input.Who + "\xff"}},
	}, nil
})

func TestRunEncodesTheInput(t *testing.T) {
	output, err := hello.Run(context.Background(), Call{Dir: "/p"}, map[string]string{"who": "you"})
	if err != nil || output.Texts[0].Text != "hello you\xff" {
		t.Errorf("got %v, %v", output, err)
	}
	var fault *Error
	if _, err := hello.Run(context.Background(), Call{}, []int{1}); !errors.As(err, &fault) || fault.Code != "ARGS_INVALID" {
		t.Errorf("got %v, want ARGS_INVALID", err)
	}
}

func TestTextsAreValidUTF8(t *testing.T) {
	output, _ := hello.Run(context.Background(), Call{}, greeting{Who: "you"})
	message, err := pack(output)
	if err != nil || message.Streams[0].Text != "hello you\uFFFD" {
		t.Errorf("got %q, %v", message.Streams[0].Text, err)
	}
}

func TestFailuresHaveCodes(t *testing.T) {
	server := &toolServer{tools: map[string]Tool{"hello": hello}, cancels: map[string]context.CancelCauseFunc{}}
	for input, want := range map[string]string{
		`{"who":"nobody"}`: "NOT_FOUND",
		`{"who":1}`:        "ARGS_INVALID",
		`{"who":"panic"}`:  "INTERNAL_ERROR",
	} {
		request := &contextdv1.CallRequest{Tool: "hello", InputJson: []byte(input)}
		_, err := server.run(context.Background(), request)
		if got := reasonOf(context.Background(), "hello", err); got.Code != want {
			t.Errorf("%s: got %v, want %s", input, got, want)
		}
	}
	_, err := server.run(context.Background(), &contextdv1.CallRequest{Tool: "other"})
	if got := reasonOf(context.Background(), "other", err); got.Code != "TOOL_NOT_FOUND" {
		t.Errorf("got %v, want TOOL_NOT_FOUND", got)
	}
}

func TestAnUnexpectedErrorKeepsItsTextToItself(t *testing.T) {
	failure := reasonOf(context.Background(), "hello", errors.New("holds a secret"))
	if failure.Message != "hello failed unexpectedly" {
		t.Errorf("got %q", failure.Message)
	}
}

func TestCancelEndsTheContextOfTheCall(t *testing.T) {
	server := &toolServer{tools: map[string]Tool{"hello": hello}, cancels: map[string]context.CancelCauseFunc{}}
	ctx, cancel := context.WithCancelCause(context.Background())
	server.keep("c1", cancel)
	request := &contextdv1.CancelRequest{CallId: "c1", Reason: contextdv1.CancelReason_CANCEL_REASON_TIMEOUT}
	if _, err := server.Cancel(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	_, err := server.run(ctx, &contextdv1.CallRequest{Tool: "hello", InputJson: []byte(`{"who":"late"}`)})
	if got := reasonOf(ctx, "hello", err); got.Code != "TIMEOUT" {
		t.Errorf("got %v, want TIMEOUT", got)
	}
}

func TestACallWithoutHostSaysSo(t *testing.T) {
	asks := NewTool("asks", func(ctx context.Context, call *Call, _ struct{}) (Output, error) {
		return Output{}, call.Host.Log(ctx, "info", "x")
	})
	if _, err := asks.Run(context.Background(), Call{}, struct{}{}); !errors.Is(err, errNoHost) {
		t.Errorf("got %v", err)
	}
}
