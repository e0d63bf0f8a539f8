import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildGoPrograms, GO } from '../helpers/build-go-programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const GRANTS = ['scrub', 'log', 'memory_search', 'memory_store', 'checkpoint_save', 'checkpoint_restore'];
const programs = buildGoPrograms('go-plugin');
programs.remove();

const SOURCE = `package main

import (
	"context"
	"errors"

	"github.com/contextd/contextd/sdk/go"
)

type input struct {
	City string \`json:"city"\`
}

func main() {
	contextd.Serve(contextd.NewTool("keeper", keep))
}

func keep(ctx context.Context, call *contextd.Call, in input) (contextd.Output, error) {
	host := call.Host
	if err := host.Log(ctx, "info", "keeping "+in.City); err != nil {
		return contextd.Output{}, err
	}
	texts, err := host.Scrub(ctx, in.City)
	if err != nil {
		return contextd.Output{}, err
	}
	lesson := contextd.NewMemory{Title: in.City, Content: "the lesson of " + in.City, Tags: []string{"go"}}
	stored, err := host.MemoryStore(ctx, lesson)
	if err != nil {
		return contextd.Output{}, err
	}
	found, err := host.MemorySearch(ctx, contextd.MemoryQuery{Query: in.City, Limit: 3, Tags: []string{"go"}})
	if err != nil {
		return contextd.Output{}, err
	}
	saved, err := host.CheckpointSave(ctx, contextd.NewCheckpoint{Name: in.City, Note: "on the way"})
	if err != nil {
		return contextd.Output{}, err
	}
	read, err := host.CheckpointRestore(ctx, contextd.CheckpointRequest{ID: saved.ID, Level: "summary"})
	if err != nil {
		return contextd.Output{}, err
	}
	var fault *contextd.Error
	_, err = host.CheckpointRestore(ctx, contextd.CheckpointRequest{ID: "cp_nothing"})
	if !errors.As(err, &fault) {
		return contextd.Output{}, errors.New("no fault")
	}
	return contextd.Output{Data: map[string]any{
		"texts": texts, "stored": stored, "found": found, "saved": saved, "read": read, "fault": fault.Code,
	}}, nil
}
`;

let at: Installation;
beforeAll(async () => {
  at = await install();
});
afterAll(() => at.remove());

it.skipIf(programs.missing !== null)(
  'FR-8.2 FR-8.3 a tool in Go has every method of ToolHost that it was granted',
  async () => {
    expect((await at.run(CTXD, ['tool', 'new', 'keeper', '--lang', 'go'])).code).toBe(0);
    const dir = join(at.project, 'keeper');
    writeFileSync(join(dir, 'main.go'), SOURCE);
    const manifest = JSON.parse(readFileSync(join(dir, 'tool.json'), 'utf8'));
    writeFileSync(join(dir, 'tool.json'), JSON.stringify({ ...manifest, grants: GRANTS }));
    const env = { ...process.env, ...GO, GOFLAGS: GO.GOFLAGS.replace('readonly', 'mod') };
    execFileSync('go', ['build', '-o', 'keeper', '.'], { cwd: dir, env, stdio: 'pipe' });
    await at.run(CTXD, ['config', 'set', 'install.yes_grants', JSON.stringify(GRANTS)]);
    await at.run(CTXD, ['server', 'restart']);
    expect(await at.run(CTXD, ['tool', 'install', dir, '--yes'])).toMatchObject({ code: 0 });
    const { data } = await at.ask('keeper', { city: 'Oslo' });
    expect(data).toMatchObject({
      texts: ['Oslo'],
      stored: { id: expect.stringMatching(/^mem_/), state: 'stored' },
      found: { memories: [{ title: 'Oslo', from: expect.any(String), confidence: expect.any(Number) }] },
      saved: { checkpoint_id: expect.stringMatching(/^cp_/), position: expect.any(Number) },
      read: { name: 'Oslo', level: 'summary', content: expect.stringContaining('note: "on the way"') },
      fault: expect.stringMatching(/^(NOT_FOUND|ARGS_INVALID)$/),
    });
  },
  300_000,
);
