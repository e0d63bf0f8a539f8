import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { callsOf, faultsOf, placeTasks } from '../fixtures/client-tasks/play.ts';
import { CLIENT_TASKS } from '../fixtures/client-tasks/tasks.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };

let one: Installation;
/** Outside the project: where git's remotes are. */
let remotes: string;
beforeAll(async () => {
  if (clients === undefined) return;
  one = await install({ warm: true });
  remotes = mkdtempSync(join(tmpdir(), 'remotes-'));
  expect((await one.run(CTXD, ['init', '--shell'])).code).toBe(0);
  expect(await one.run(CTXD, ['allow', 'path', remotes, '--yes'])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await one?.remove();
  if (remotes !== undefined) rmSync(remotes, { recursive: true, force: true });
});

/** Each task is tried in one client, and in `npm run nightly` in both. */
const TRIED_IN = {
  claude: ['builds and git', 'packages and servers'],
  opencode: ['jobs and outputs'],
} as const satisfies Record<string, readonly string[]>;
const partsOf = (client: keyof typeof TRIED_IN) =>
  Object.keys(CLIENT_TASKS).filter((part) => AT_NIGHT || TRIED_IN[client].some((one) => one === part));

/** Fifty commands and more on a busy machine. */
const LIMIT_MS = 600_000;
/** Everything is allowed, so that only the shell is under test. */
const where = () => ({ cwd: one.project, env: { CONTEXTD_HOME: one.home }, allow: ['Bash'], limitMs: LIMIT_MS });

function place(part: string, client: string) {
  const directory = join(one.project, `${client}-${part.replaceAll(' ', '-')}`);
  mkdirSync(directory);
  return placeTasks(CLIENT_TASKS[part] ?? [], directory, remotes);
}

it('the list has forty tasks, each of which is tried in a client', () => {
  expect(Object.values(CLIENT_TASKS).flat()).toHaveLength(40);
  expect(Object.values(TRIED_IN).flat().sort()).toEqual(Object.keys(CLIENT_TASKS).sort());
});

describe.skipIf(clients === undefined)('forty ordinary tasks, whose shell is contextd-sh', () => {
  it.each(partsOf('claude'))(
    'FR-4.1: %s work in the real Claude Code as in a shell of its own',
    async (part) => {
      const tasks = place(part, 'claude');
      const { results } = await runClaude(claude, callsOf(tasks, 'claude'), where());
      expect(faultsOf(tasks, results, 'claude')).toEqual([]);
      await expect.poll(async () => (await one.run(CTXD, ['ps', '--json'])).stdout).not.toContain('server.js');
    },
    LIMIT_MS,
  );

  it.each(partsOf('opencode'))(
    'FR-4.1: %s work in the real OpenCode as in a shell of its own',
    async (part) => {
      const tasks = place(part, 'opencode');
      const { results } = await runOpenCode(opencode, callsOf(tasks, 'opencode'), where());
      expect(faultsOf(tasks, results, 'opencode')).toEqual([]);
    },
    LIMIT_MS,
  );
});
