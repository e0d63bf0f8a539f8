import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContextdError } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';
import { findProjectRoot } from '../../project-root.ts';
import type { Check } from '../../render.ts';
import { fail, ok, warn } from '../check.ts';
import { askVersion } from '../program-version.ts';
import { type ClientOptions, type Conversation, runClaude, runOpenCode } from './run-client.ts';
import type { Call, Seen, Step } from './scripted-model.ts';

/** A way by which a model gets what is in a file. */
interface Way {
  name: string;
  steps(place: Place): readonly (Call | ((seen: readonly Seen[]) => Call))[];
}

/** The files of one proof, below the project. */
interface Place {
  directory: string;
  /** Holds the canary and the mark. */
  file: string;
}

interface Client {
  name: string;
  program: string;
  run(program: string, steps: readonly Step[], options: ClientOptions): Promise<Conversation>;
  ways: readonly Way[];
}

const command = (tool: string, place: Place, more: object = {}): Call => ({
  tool,
  input: { command: `cat ${place.file}`, description: 'a proof', ...more },
});

const CLIENTS: readonly Client[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    run: (program, steps, options) =>
      runClaude(program, steps, { ...options, allow: ['Bash', 'Read', 'Grep', 'Edit'] }),
    ways: [
      { name: 'Bash', steps: (place) => [command('Bash', place)] },
      { name: 'Read', steps: ({ file }) => [{ tool: 'Read', input: { file_path: file } }] },
      {
        name: 'Grep',
        steps: ({ directory }) => [
          { tool: 'Grep', input: { pattern: 'token', path: directory, output_mode: 'content' } },
        ],
      },
      {
        name: 'Edit',
        steps: ({ file }) => [{ tool: 'Edit', input: { file_path: file, old_string: 'before', new_string: 'after' } }],
      },
      {
        name: 'background',
        steps: (place) => [
          command('Bash', place, { run_in_background: true }),
          (seen) => ({
            tool: 'Read',
            input: { file_path: /\S+\.output/.exec(seen.at(-1)?.text ?? '')?.[0] ?? place.file },
          }),
        ],
      },
    ],
  },
  {
    name: 'OpenCode',
    program: 'opencode',
    run: runOpenCode,
    ways: [
      { name: 'bash', steps: (place) => [command('bash', place)] },
      { name: 'read', steps: ({ file }) => [{ tool: 'read', input: { filePath: file } }] },
      { name: 'grep', steps: ({ directory }) => [{ tool: 'grep', input: { pattern: 'token', path: directory } }] },
      {
        name: 'edit',
        steps: ({ file }) => [{ tool: 'edit', input: { filePath: file, oldString: 'before', newString: 'after' } }],
      },
    ],
  },
];

const SET_UP = 'Run `ctxd init --shell` in the project, then `ctxd doctor --clients` again.';

/**
 * Starts each client of PATH with the settings of the project and a model that plays a script, and looks for a made-up secret in
 * everything that the client sends to the model. Needs no network and no account. Nothing of it stays.
 */
export async function proveClients(context: CliContext): Promise<Check[]> {
  const root = await findProjectRoot(context.cwd);
  if (root === undefined)
    throw new ContextdError('NOT_FOUND', 'there is no project here', {
      remedy: 'Run `ctxd init` in the project first.',
    });
  const present = await Promise.all(
    CLIENTS.map(async (client) => ((await askVersion(context, client.program)).version === undefined ? null : client)),
  );
  const clients = present.filter((client) => client !== null);
  if (clients.length === 0)
    return [warn('clients', 'neither claude nor opencode is on PATH', 'Put them on PATH, then run it again.')];
  const checks: Check[] = [];
  for (const client of clients) checks.push(await prove(context, client, root));
  return checks;
}

async function prove(context: CliContext, client: Client, root: string): Promise<Check> {
  const canary = `ghp_${randomBytes(27)
    .toString('base64')
    .replaceAll(/[^A-Za-z0-9]/g, 'x')}`;
  const mark = `mark-${randomBytes(4).toString('hex')}`;
  const directory = mkdtempSync(join(root, 'contextd-canary-'));
  const places = mkdtempSync(join(tmpdir(), 'contextd-'));
  try {
    const place = { directory, file: join(directory, 'settings.txt') };
    writeFileSync(place.file, `before\n${mark}\ntoken = ${canary}\n`);
    for (const [name, path] of Object.entries(placesOf(context))) symlinkSync(path, join(places, name));
    const options = { cwd: root, env: { CONTEXTD_HOME: places } };
    const [leaks, untried]: [string[], string[]] = [[], []];
    for (const way of client.ways) {
      const { requests, tools } = await client.run(client.program, way.steps(place), options);
      const all = requests.join('\n');
      if (all.includes(canary)) leaks.push(way.name);
      else if (!all.includes(mark) && !/edit/i.test(way.name) && isOffered(way, place, tools)) untried.push(way.name);
    }
    // The hook at the start of a session shows what earlier ones did.
    const { requests } = await client.run(client.program, [], options);
    if (requests.join('\n').includes(canary)) leaks.push('hook');
    return checkOf(client, leaks, untried);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    rmSync(places, { recursive: true, force: true });
  }
}

function checkOf({ name, ways }: Client, leaks: readonly string[], untried: readonly string[]): Check {
  const title = `canary in ${name}`;
  const all = [...ways.map((way) => way.name), 'hook'];
  if (leaks.length > 0) return fail(title, `the model saw the secret by ${leaks.join(', ')}`, SET_UP);
  const proven = all.filter((way) => !untried.includes(way));
  if (untried.length === 0) return ok(title, `the model did not see the secret by ${proven.join(', ')}`);
  return warn(
    title,
    `nothing came back by ${untried.join(', ')}, so it is not proven for them`,
    'Allow these tools, then run it again.',
  );
}

/** Newer versions of Claude Code have no Grep: their Bash does it. */
function isOffered(way: Way, place: Place, tools: readonly object[]): boolean {
  const [first] = way.steps(place);
  const names = new Set(tools.flatMap((tool) => Object.values(tool)).filter((value) => typeof value === 'string'));
  const functions = tools.flatMap((tool) => ('function' in tool ? [tool.function] : []));
  const inner = functions.map((one) => (typeof one === 'object' && one !== null && 'name' in one ? one.name : ''));
  return typeof first === 'object' && [...names, ...inner].includes(first.tool);
}

/** The daemon's own places, under the names that CONTEXTD_HOME has: the client gets a HOME of its own. */
function placesOf({ paths }: CliContext): Record<string, string> {
  return { config: paths.configDir, data: paths.dataDir, state: paths.stateDir, run: paths.runDir };
}
