package contextd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/contextd/contextd/sdk/go/contextdv1"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// The cookie says that contextd started the program, and not a person at a shell.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "CONTEXTD_PLUGIN",
	MagicCookieValue: "6f0d8a25b3e94c17a2b85fd13c7e60947d1be2a84f3950c6e8a7124d9b03f5ce",
}

// Serve serves the tools until contextd ends the process. Call it at the end of main.
func Serve(tools ...Tool) {
	server := &toolServer{tools: map[string]Tool{}, cancels: map[string]context.CancelCauseFunc{}}
	for _, tool := range tools {
		server.tools[tool.name] = tool
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         map[string]plugin.Plugin{"tool": &toolPlugin{server: server}},
		GRPCServer:      plugin.DefaultGRPCServer,
	})
}

type toolPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	server *toolServer
}

func (p *toolPlugin) GRPCServer(broker *plugin.GRPCBroker, server *grpc.Server) error {
	p.server.broker = broker
	contextdv1.RegisterToolPluginServer(server, p.server)
	return nil
}

func (*toolPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this program is a plugin, not a host")
}

type toolServer struct {
	contextdv1.UnimplementedToolPluginServer
	broker         *plugin.GRPCBroker
	tools          map[string]Tool
	host           contextdv1.ToolHostClient
	protectedPaths []string

	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc
}

func (s *toolServer) Describe(_ context.Context, request *contextdv1.DescribeRequest) (*contextdv1.DescribeResponse, error) {
	connection, err := s.broker.Dial(request.HostServiceId)
	if err != nil {
		return nil, err
	}
	s.host, s.protectedPaths = contextdv1.NewToolHostClient(connection), request.ProtectedPaths
	response := &contextdv1.DescribeResponse{}
	for name := range s.tools {
		response.Tools = append(response.Tools, name)
	}
	return response, nil
}

func (s *toolServer) Call(request *contextdv1.CallRequest, events grpc.ServerStreamingServer[contextdv1.CallEvent]) error {
	ctx, cancel := context.WithCancelCause(events.Context())
	defer cancel(nil)
	s.keep(request.CallId, cancel)
	defer s.keep(request.CallId, nil)
	output, err := s.run(ctx, request)
	if err == nil {
		var message *contextdv1.CallOutput
		if message, err = pack(output); err == nil {
			return events.Send(&contextdv1.CallEvent{Event: &contextdv1.CallEvent_Output{Output: message}})
		}
	}
	failure := packError(reasonOf(ctx, request.Tool, err))
	return events.Send(&contextdv1.CallEvent{Event: &contextdv1.CallEvent_Failure{Failure: failure}})
}

func (s *toolServer) Cancel(_ context.Context, request *contextdv1.CancelRequest) (*contextdv1.CancelResponse, error) {
	s.mu.Lock()
	cancel := s.cancels[request.CallId]
	s.mu.Unlock()
	if cancel != nil {
		cancel(cancelReason(request.Reason))
	}
	return &contextdv1.CancelResponse{}, nil
}

func (s *toolServer) keep(callID string, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel == nil {
		delete(s.cancels, callID)
	} else {
		s.cancels[callID] = cancel
	}
}

// A panic of one call must not end the others.
func (s *toolServer) run(ctx context.Context, request *contextdv1.CallRequest) (output Output, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	tool, ok := s.tools[request.Tool]
	if !ok {
		return Output{}, &Error{Code: "TOOL_NOT_FOUND", Message: "this program has no tool " + request.Tool}
	}
	call := &Call{
		RequestID:      request.RequestId,
		Workspace:      request.Workspace,
		Dir:            request.Cwd,
		ProtectedPaths: s.protectedPaths,
		OutputMaxBytes: request.OutputMaxBytes,
		Host:           &callHost{callID: request.CallId, client: s.host},
	}
	if call.Dir == "" {
		call.Dir = call.Workspace
	}
	return tool.execute(ctx, call, request.InputJson)
}

func cancelReason(reason contextdv1.CancelReason) error {
	if reason == contextdv1.CancelReason_CANCEL_REASON_TIMEOUT {
		return &Error{Code: "TIMEOUT", Message: "the time of the call is over"}
	}
	return &Error{Code: "CANCELLED", Message: "the call was cancelled"}
}

// reasonOf returns the failure that the caller gets. The text of an unexpected error may quote data that the tool read, so
// it goes to stderr only, which contextd logs.
func reasonOf(ctx context.Context, tool string, err error) *Error {
	var known *Error
	if errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &known) {
		return known
	}
	if errors.As(err, &known) {
		return known
	}
	fmt.Fprintf(os.Stderr, "%s failed: %v\n", tool, err)
	return &Error{
		Code:    "INTERNAL_ERROR",
		Message: tool + " failed unexpectedly",
		Remedy:  "See `ctxd server logs` for the cause.",
	}
}

func pack(output Output) (*contextdv1.CallOutput, error) {
	data := []byte("{}")
	if output.Data != nil {
		var err error
		if data, err = json.Marshal(output.Data); err != nil {
			return nil, fmt.Errorf("the data cannot be encoded: %w", err)
		}
	}
	message := &contextdv1.CallOutput{DataJson: data}
	for _, text := range output.Texts {
		stream := &contextdv1.OutputStream{Field: text.Field, Text: strings.ToValidUTF8(text.Text, "\uFFFD")}
		message.Streams = append(message.Streams, stream)
	}
	for _, warning := range output.Warnings {
		message.Warnings = append(message.Warnings, strings.ToValidUTF8(warning, "\uFFFD"))
	}
	if output.Failure != nil {
		message.Failure = packError(output.Failure)
	}
	return message, nil
}

func packError(err *Error) *contextdv1.Failure {
	failure := &contextdv1.Failure{
		Code:    err.Code,
		Message: strings.ToValidUTF8(err.Message, "\uFFFD"),
		Remedy:  strings.ToValidUTF8(err.Remedy, "\uFFFD"),
	}
	if details, fault := json.Marshal(err.Details); fault == nil && len(err.Details) > 0 {
		failure.DetailsJson = details
	}
	return failure
}
