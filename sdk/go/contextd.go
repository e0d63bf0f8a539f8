// Package contextd serves tools of contextd that are written in Go.
//
//	func main() {
//		contextd.Serve(contextd.NewTool("hello", func(ctx context.Context, call *contextd.Call, input Input) (contextd.Output, error) {
//			return contextd.Output{Data: map[string]any{"text": "hello " + input.Who}}, nil
//		}))
//	}
//
// The program is a plugin of github.com/hashicorp/go-plugin. contextd starts it in a sandbox when the tool is called.
package contextd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Tool is a tool that [Serve] serves. Make it with [NewTool].
type Tool struct {
	name    string
	execute func(ctx context.Context, call *Call, input []byte) (Output, error)
}

// NewTool makes a tool. Its input is decoded from JSON that fits schema.json, so Input has the properties of the schema.
// The context ends when the call is cancelled or its time is over; return what there is within two seconds of that.
// An error that is an [*Error] is the failure of the call. Any other error is reported as INTERNAL_ERROR, and its text goes
// to the daemon's log only.
func NewTool[Input any](name string, execute func(ctx context.Context, call *Call, input Input) (Output, error)) Tool {
	return Tool{name: name, execute: func(ctx context.Context, call *Call, data []byte) (Output, error) {
		var input Input
		if err := json.Unmarshal(data, &input); err != nil {
			return Output{}, &Error{Code: "ARGS_INVALID", Message: fmt.Sprintf("the arguments of %s: %v", name, err)}
		}
		return execute(ctx, call, input)
	}}
}

// Run calls the tool in this process, for tests. The input is encoded as JSON first, as it is for a real call. A call
// without a Host has none: its requests fail.
func (t Tool) Run(ctx context.Context, call Call, input any) (Output, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return Output{}, err
	}
	if call.Host == nil {
		call.Host = noHost{}
	}
	return t.execute(ctx, &call, data)
}

// Call is one call of a tool.
type Call struct {
	RequestID string
	// Workspace is the absolute path of the project, the same in the sandbox as outside.
	Workspace string
	// Dir is the directory in the workspace that the call is made from. Relative paths of the input start there.
	Dir string
	// ProtectedPaths are paths below the workspace that no tool may write, with everything below them.
	ProtectedPaths []string
	// OutputMaxBytes is the most text to return. Of a longer text keep head and tail.
	OutputMaxBytes uint64
	Host           Host
}

// Host is what a tool may ask of contextd. Each method needs its grant in tool.json; without it the error has the code
// PERMISSION_DENIED.
type Host interface {
	// Exec runs a shell command in a sandbox of its own, until the call ends. Grant: exec. A command that fails is a
	// result; the error says that it could not be run.
	Exec(ctx context.Context, command Command) (CommandResult, error)
	// Scrub returns the texts with secrets replaced by the tokens of the session. Grant: scrub.
	Scrub(ctx context.Context, texts ...string) ([]string, error)
	// Log writes a line to the daemon's log, which masks it. The level is debug, info, warn or error. Grant: log.
	Log(ctx context.Context, level, message string) error
	// MemorySearch finds memories of the project by any text, the best first. Grant: memory_search.
	MemorySearch(ctx context.Context, query MemoryQuery) (FoundMemories, error)
	// MemoryStore keeps a lesson for the project. It never merges into a memory of another author. Grant: memory_store.
	MemoryStore(ctx context.Context, memory NewMemory) (StoredMemory, error)
	// CheckpointSave saves what the session did up to now. Grant: checkpoint_save.
	CheckpointSave(ctx context.Context, checkpoint NewCheckpoint) (SavedCheckpoint, error)
	// CheckpointRestore reads a checkpoint of the session. It changes no files. Grant: checkpoint_restore.
	CheckpointRestore(ctx context.Context, request CheckpointRequest) (Checkpoint, error)
}

// Command is a command for [Host.Exec].
type Command struct {
	// Shell is the command, for bash.
	Shell string
	// Dir is an absolute path in the workspace; empty: the workspace.
	Dir   string
	Env   map[string]string
	Stdin []byte
}

// CommandResult is how a command ended.
type CommandResult struct {
	// ExitCode is -1 if the command was killed from outside.
	ExitCode int
	// EndedBy is exit, signal, timeout, oom or another of the words in docs/plugins.md.
	EndedBy        string
	Stdout, Stderr string
}

// Output is the answer of a tool.
type Output struct {
	// Data must encode to a JSON object; nil is an empty one. It is stored whole, and cut at its items if it does not fit.
	Data any
	// Texts are long texts, shown as properties of data and cut to the budget of the call.
	Texts    []Text
	Warnings []string
	// Failure is set if the tool began and failed; data and texts are returned with it.
	Failure *Error
}

// Text is a long text. Field matches [a-z][a-z0-9_]{0,31} and is not a property of the data.
type Text struct {
	Field string
	Text  string
}

// Error is a failure with a code of docs/errors.md, such as PATH_NOT_FOUND, and what the caller can do about it.
type Error struct {
	Code    string
	Message string
	Remedy  string
	Details map[string]any
}

func (e *Error) Error() string { return e.Message }

type noHost struct{}

var errNoHost = errors.New("this call has no host: set Call.Host in the test")

func (noHost) Exec(context.Context, Command) (CommandResult, error) {
	return CommandResult{}, errNoHost
}
func (noHost) Scrub(context.Context, ...string) ([]string, error) { return nil, errNoHost }
func (noHost) Log(context.Context, string, string) error          { return errNoHost }
func (noHost) MemorySearch(context.Context, MemoryQuery) (FoundMemories, error) {
	return FoundMemories{}, errNoHost
}
func (noHost) MemoryStore(context.Context, NewMemory) (StoredMemory, error) {
	return StoredMemory{}, errNoHost
}
func (noHost) CheckpointSave(context.Context, NewCheckpoint) (SavedCheckpoint, error) {
	return SavedCheckpoint{}, errNoHost
}
func (noHost) CheckpointRestore(context.Context, CheckpointRequest) (Checkpoint, error) {
	return Checkpoint{}, errNoHost
}
