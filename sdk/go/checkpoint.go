package contextd

import "context"

// NewCheckpoint describes a checkpoint for [Host.CheckpointSave]. Both may be empty.
type NewCheckpoint struct {
	// Name has at most 80 characters.
	Name string `json:"name,omitempty"`
	// Note has at most 8,000 characters.
	Note string `json:"note,omitempty"`
}

// SavedCheckpoint names a checkpoint that was saved.
type SavedCheckpoint struct {
	ID string `json:"checkpoint_id"`
	// Position is that of the newest event of the session that it holds.
	Position int64 `json:"position"`
	// FilesNotKept says why the files of the project were not kept with it; empty: they were.
	FilesNotKept string `json:"files_not_kept"`
}

// CheckpointRequest is what [Host.CheckpointRestore] reads.
type CheckpointRequest struct {
	ID string `json:"id"`
	// Level is summary, context or full; empty: context.
	Level string `json:"level,omitempty"`
	// Files is report to compare the files of the project with those of the checkpoint; empty: they are not looked at.
	Files string `json:"files,omitempty"`
}

// Checkpoint is what a session had done.
type Checkpoint struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Level   string `json:"level"`
	Content string `json:"content"`
	// Files is nil unless the request asked for it.
	Files *CheckpointFiles `json:"files"`
}

// CheckpointFiles counts files that differ from those of a checkpoint, and those of them that a restore would leave.
type CheckpointFiles struct {
	Changed int `json:"changed"`
	Stay    int `json:"stay"`
}

func (h *callHost) CheckpointSave(ctx context.Context, checkpoint NewCheckpoint) (SavedCheckpoint, error) {
	return ask[SavedCheckpoint](ctx, h, h.client.CheckpointSave, checkpoint)
}

func (h *callHost) CheckpointRestore(ctx context.Context, request CheckpointRequest) (Checkpoint, error) {
	return ask[Checkpoint](ctx, h, h.client.CheckpointRestore, request)
}
