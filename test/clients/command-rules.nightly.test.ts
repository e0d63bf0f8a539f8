import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import type { Seen } from '#src/cli/doctor/clients/wires.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CLAUDE_CASES, CLAUDE_PERMISSIONS } from '../fixtures/command-rules/claude-cases.ts';
import { OPENCODE_BASH, OPENCODE_CASES } from '../fixtures/command-rules/opencode-cases.ts';
import { ofClient, type RuleCase } from '../fixtures/command-rules/rule-case.ts';
import { stride } from '../helpers/property-runs.ts';

// The same tables as for contextd, given to the clients' own shells: our reading of rules is the clients' reading.

const clients = findClients();
let project: string;
beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'client-rules-')));
  mkdirSync(join(project, 'lib'));
  mkdirSync(join(project, '.claude'));
  writeFileSync(join(project, '.claude/settings.json'), JSON.stringify({ permissions: CLAUDE_PERMISSIONS }));
  writeFileSync(join(project, 'opencode.json'), JSON.stringify({ permission: { bash: OPENCODE_BASH } }));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

function ofClaude({ text, isError }: Seen): 'deny' | 'ask' | 'run' {
  if (!isError) return 'run';
  if (/^Permission to use Bash .* has been denied\.$/s.test(text)) return 'deny';
  return /requested permissions to use Bash|requires approval/.test(text) ? 'ask' : 'run';
}

function ofOpenCode({ text }: Seen): 'deny' | 'run' {
  return text.startsWith('The user has specified a rule which prevents you') ? 'deny' : 'run';
}

function differences(cases: readonly RuleCase[], seen: readonly ('deny' | 'ask' | 'run')[]): object[] {
  return cases.flatMap((one, index) => {
    const [stated, did] = [ofClient(one), seen[index]];
    return stated === did ? [] : [{ command: one.command, stated, did }];
  });
}

describe.skipIf(clients === undefined)('the tables of command rules', () => {
  it('state what the real Claude Code does with the same words', async () => {
    const { results } = await runClaude(
      clients?.claude ?? '',
      CLAUDE_CASES.map(({ command }) => command),
      { cwd: project, allow: ['Bash'] },
    );
    expect(differences(CLAUDE_CASES, results.map(ofClaude))).toEqual([]);
  });

  it('state what the real OpenCode does with the same words', async () => {
    // A turn of OpenCode takes seconds. What contextd makes of each case is tested in every run.
    const every = stride(3);
    // What it asks about ends a conversation without a terminal, so it is played by itself.
    const [asked, others] = [
      OPENCODE_CASES.filter((one) => ofClient(one) === 'ask').filter((_, index) => index % every === 0),
      OPENCODE_CASES.filter((one) => ofClient(one) !== 'ask').filter((_, index) => index % every === 0),
    ];
    const play = (cases: readonly RuleCase[]) =>
      runOpenCode(
        clients?.opencode ?? '',
        cases.map(({ command }) => command),
        { cwd: project },
      );
    const { results } = await play(others);
    expect(differences(others, results.map(ofOpenCode))).toEqual([]);
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(others.map(ofClient))).toEqual(new Set(['deny', 'run']));
    for (const one of asked) {
      await expect(play([one]), one.command).rejects.toThrow(/permission requested: bash/i);
    }
  });
});
