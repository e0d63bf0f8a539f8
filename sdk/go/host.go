package contextd

import (
	"context"
	"encoding/json"

	"github.com/contextd/contextd/sdk/go/contextdv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// callHost asks the daemon on behalf of one call.
type callHost struct {
	callID string
	client contextdv1.ToolHostClient
}

func (h *callHost) Exec(ctx context.Context, command Command) (CommandResult, error) {
	request := &contextdv1.ExecRequest{
		CallId:  h.callID,
		Command: command.Shell,
		Cwd:     command.Dir,
		Env:     command.Env,
		Stdin:   command.Stdin,
	}
	var trailer metadata.MD
	response, err := h.client.Exec(ctx, request, grpc.Trailer(&trailer))
	if err != nil {
		return CommandResult{}, hostError(err, trailer)
	}
	result := CommandResult{ExitCode: -1, EndedBy: response.EndedBy, Stdout: response.Stdout, Stderr: response.Stderr}
	if response.ExitCode != nil {
		result.ExitCode = int(*response.ExitCode)
	}
	return result, nil
}

func (h *callHost) Scrub(ctx context.Context, texts ...string) ([]string, error) {
	var trailer metadata.MD
	response, err := h.client.Scrub(ctx, &contextdv1.ScrubRequest{CallId: h.callID, Texts: texts}, grpc.Trailer(&trailer))
	if err != nil {
		return nil, hostError(err, trailer)
	}
	return response.Texts, nil
}

func (h *callHost) Log(ctx context.Context, level, message string) error {
	var trailer metadata.MD
	request := &contextdv1.LogRequest{CallId: h.callID, Level: level, Message: message}
	if _, err := h.client.Log(ctx, request, grpc.Trailer(&trailer)); err != nil {
		return hostError(err, trailer)
	}
	return nil
}

// hostMethod is a method of ToolHost whose request and answer are JSON objects.
type hostMethod func(context.Context, *contextdv1.HostRequest, ...grpc.CallOption) (*contextdv1.HostResponse, error)

func ask[Answer any](ctx context.Context, h *callHost, method hostMethod, request any) (Answer, error) {
	var answer Answer
	data, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	var trailer metadata.MD
	response, err := method(ctx, &contextdv1.HostRequest{CallId: h.callID, Json: data}, grpc.Trailer(&trailer))
	if err != nil {
		return answer, hostError(err, trailer)
	}
	return answer, json.Unmarshal(response.Json, &answer)
}

// hostError decodes the trailers of a failed request. An error without them comes from the connection.
func hostError(err error, trailer metadata.MD) error {
	codes := trailer.Get("contextd-code")
	if len(codes) == 0 {
		return err
	}
	known := &Error{Code: codes[0], Message: status.Convert(err).Message()}
	if remedies := trailer.Get("contextd-remedy-bin"); len(remedies) > 0 {
		known.Remedy = remedies[0]
	}
	if details := trailer.Get("contextd-details-bin"); len(details) > 0 {
		_ = json.Unmarshal([]byte(details[0]), &known.Details)
	}
	return known
}
