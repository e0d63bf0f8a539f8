package contextd

import "context"

// MemoryQuery is what [Host.MemorySearch] looks for. Zero values are left out.
type MemoryQuery struct {
	// Query is any text.
	Query string `json:"query"`
	// Limit is from 1 to 100; 0: 5.
	Limit int      `json:"limit,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	// Outcome is success, failure or mixed.
	Outcome string `json:"outcome,omitempty"`
	// Scope is project or global.
	Scope      string `json:"scope,omitempty"`
	MaxAgeDays int    `json:"max_age_days,omitempty"`
}

// FoundMemories are titles, the best first. A tool cannot read the contents.
type FoundMemories struct {
	Memories []MemoryReference `json:"memories"`
	// LeftOut counts those that were found beside these.
	LeftOut int `json:"left_out"`
	// Degraded says why not everything was searched; empty: everything was.
	Degraded string `json:"degraded"`
}

// MemoryReference names a memory.
type MemoryReference struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Outcome    string  `json:"outcome"`
	Confidence float64 `json:"confidence"`
	// From marks a memory of a tool, an import or a team member.
	From string `json:"from"`
}

// NewMemory is a lesson for [Host.MemoryStore]. Secrets in it are stored by the name of their rule.
type NewMemory struct {
	Title       string   `json:"title"`
	Content     string   `json:"content"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	// Outcome is success, failure or mixed; empty: success.
	Outcome string `json:"outcome,omitempty"`
	Task    string `json:"task,omitempty"`
	Context string `json:"context,omitempty"`
}

// StoredMemory is what became of a [NewMemory].
type StoredMemory struct {
	ID string `json:"id"`
	// State is stored, merged or unchanged.
	State string `json:"state"`
	// Contradicts holds the ids of memories that say otherwise.
	Contradicts []string `json:"contradicts"`
}

func (h *callHost) MemorySearch(ctx context.Context, query MemoryQuery) (FoundMemories, error) {
	return ask[FoundMemories](ctx, h, h.client.MemorySearch, query)
}

func (h *callHost) MemoryStore(ctx context.Context, memory NewMemory) (StoredMemory, error) {
	return ask[StoredMemory](ctx, h, h.client.MemoryStore, memory)
}
