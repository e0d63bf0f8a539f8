import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContextdError } from '../../../core/errors.ts';
import type { CliContext } from '../../context.ts';
import { OwnedDirectory } from '../../files/owned-directory.ts';
import { confirm } from '../../input.ts';
import { findProjectRoot } from '../../project-root.ts';
import { type Check, write } from '../../render.ts';
import { fail, ok, warn } from '../check.ts';
import { askVersion } from '../program-version.ts';
import { inProofPlace, type ProofPlace } from './proof-place.ts';
import { type ClientOptions, type Conversation, runClaude, runCodex, runGemini, runOpenCode } from './run-client.ts';
import type { Step } from './scripted-model.ts';
import type { Call, Seen } from './wires.ts';

/** A way by which a model gets what is in a file. */
interface Way {
  name: string;
  /** True: the client says that it edited, and may show nothing of the file. Default: false. */
  isEdit?: boolean;
  /** A program of the machine without which the client's tool does not run. */
  needs?: Needed;
  steps(place: Place): readonly (Call | ((seen: readonly Seen[]) => Call))[];
}

interface Needed {
  program: string;
  name: string;
  /** How a person gets it. */
  install: string;
}

/** OpenCode brings none: it downloads one into its data directory, which is a new one here and without a network. */
const RIPGREP: Needed = {
  program: 'rg',
  name: 'ripgrep',
  install: 'Install the package ripgrep (Debian: apt-get install ripgrep; macOS: brew install ripgrep)',
};

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
  /** What `ctxd init` is given to set it up. */
  setUp: string;
}

const command = (tool: string, place: Place, more: object = {}): Call => ({
  tool,
  input: { command: `cat ${place.file}`, description: 'a proof', ...more },
});

const CLIENTS: readonly Client[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    setUp: '--shell',
    run: (program, steps, options) =>
      runClaude(program, steps, { ...options, allow: ['Bash', 'Read', 'Grep', 'Edit'] }),
    ways: [
      { name: 'Bash', steps: (place) => [command('Bash', place)] },
      {
        name: 'a command that fails',
        steps: (place) => [command('Bash', place, { command: `cat ${place.file}; false` })],
      },
      { name: 'Read', steps: ({ file }) => [{ tool: 'Read', input: { file_path: file } }] },
      {
        name: 'Grep',
        steps: ({ directory }) => [
          { tool: 'Grep', input: { pattern: 'token', path: directory, output_mode: 'content' } },
        ],
      },
      {
        name: 'Edit',
        isEdit: true,
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
    setUp: '--shell',
    run: runOpenCode,
    ways: [
      { name: 'bash', steps: (place) => [command('bash', place)] },
      { name: 'read', steps: ({ file }) => [{ tool: 'read', input: { filePath: file } }] },
      {
        name: 'grep',
        needs: RIPGREP,
        steps: ({ directory }) => [{ tool: 'grep', input: { pattern: 'token', path: directory } }],
      },
      {
        name: 'edit',
        isEdit: true,
        steps: ({ file }) => [{ tool: 'edit', input: { filePath: file, oldString: 'before', newString: 'after' } }],
      },
    ],
  },
  {
    name: 'Codex',
    program: 'codex',
    setUp: '--client codex',
    run: runCodex,
    ways: [
      { name: 'exec_command', steps: ({ file }) => [{ tool: 'exec_command', input: { cmd: `cat ${file}` } }] },
      {
        name: 'a command that fails',
        steps: ({ file }) => [{ tool: 'exec_command', input: { cmd: `cat ${file}; false` } }],
      },
    ],
  },
  {
    name: 'Gemini CLI',
    program: 'gemini',
    setUp: '--client gemini',
    run: runGemini,
    ways: [
      { name: 'run_shell_command', steps: (place) => [command('run_shell_command', place)] },
      {
        name: 'a command that fails',
        steps: (place) => [command('run_shell_command', place, { command: `cat ${place.file}; false` })],
      },
      { name: 'read_file', steps: ({ file }) => [{ tool: 'read_file', input: { file_path: file } }] },
      {
        name: 'grep_search',
        steps: ({ directory }) => [{ tool: 'grep_search', input: { pattern: 'token', dir_path: directory } }],
      },
      {
        name: 'replace',
        isEdit: true,
        steps: ({ file }) => [
          {
            tool: 'replace',
            input: { file_path: file, instruction: 'a proof', old_string: 'before', new_string: 'after' },
          },
        ],
      },
    ],
  },
];

const FILE = 'settings.txt';

/**
 * Starts each client of PATH with the settings of the project and a model that plays a script, and looks for a made-up secret in
 * everything that the client sends to the model. Needs no network and no account. Nothing of it stays, however it ends. A client runs what the
 * project gives it, such as hooks, so a person is asked unless `isAgreed`.
 */
export async function proveClients(context: CliContext, isAgreed: boolean): Promise<Check[]> {
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
    return [
      warn('clients', 'none of claude, opencode, codex and gemini is on PATH', 'Put them on PATH, then run it again.'),
    ];
  checkOwners(root);
  if (!isAgreed) await agree(context, clients, root);
  return inProofPlace(context, root, async (place) => {
    const checks: Check[] = [];
    for (const client of clients) {
      await write(context.stderr, `ctxd: trying ${client.name} (about a minute) ...\n`);
      checks.push(await prove(context, client, root, place));
    }
    return checks;
  });
}

/** What a client may load its hooks and plugins from. It also looks into the directories above. */
const LOADED = [
  '.',
  '.claude',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.mcp.json',
  '.opencode',
  'opencode.json',
  '.codex',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.gemini',
  '.gemini/settings.json',
];

/** Throws PERMISSION_DENIED if anybody but this user and root could decide what the clients run. */
function checkOwners(root: string): void {
  for (let directory = root; ; directory = dirname(directory)) {
    for (const name of LOADED) {
      const path = join(directory, name);
      const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? 0;
      if (uid !== 0 && uid !== process.getuid?.())
        throw new ContextdError(
          'PERMISSION_DENIED',
          `${path} belongs to another user, whose hooks the clients would run`,
          {
            remedy: 'Run it as that user.',
          },
        );
    }
    if (directory === dirname(directory)) return;
  }
}

function agree(context: CliContext, clients: readonly Client[], root: string): Promise<void> {
  const names = clients.map(({ name }) => name).join(' and ');
  const question = `Start ${names} in ${root}, with the hooks, plugins and MCP servers that the project names?`;
  const refusal = new ContextdError('PERMISSION_DENIED', 'the clients were not started', {
    remedy: 'Run `ctxd doctor --clients --yes` in a project whose files you trust.',
  });
  return confirm(context, [], question, refusal, 'yes');
}

/** What came of one way: the secret was hidden or shown, or nothing of the file came back and the client says why. */
type Result =
  | { way: string; state: 'hidden' | 'shown' }
  | { way: string; state: 'nothing'; why: string }
  | { way: string; state: 'missing'; needs: Needed };

async function prove(
  context: CliContext,
  client: Client,
  root: string,
  { contextdHome, home, temporary }: ProofPlace,
): Promise<Check> {
  const { signal } = context;
  const letters = randomBytes(27).toString('base64');
  const canary = `ghp_${letters.replaceAll(/[^A-Za-z0-9]/g, 'x')}`;
  const mark = `mark-${randomBytes(4).toString('hex')}`;
  const project = OwnedDirectory.at(root);
  const name = `contextd-canary-${randomBytes(4).toString('hex')}`;
  try {
    project.makeDirectory(name, 0o700);
    project.create(`${name}/${FILE}`, `before\ntoken = ${canary} # ${mark}\n`, 0o600);
    const place = { directory: join(root, name), file: join(root, name, FILE) };
    const env = { CONTEXTD_HOME: contextdHome, TMPDIR: temporary, CLAUDE_CODE_TMPDIR: temporary };
    const options = { cwd: root, env, home, signal };
    const scripts = client.ways.map((way) => way.steps(place));
    const told = await client.run(client.program, scripts.flat(), options);
    const missing = await missingPrograms(context, client);
    const results: Result[] = client.ways.map(({ name: way, isEdit = false, needs }, index) => {
      const start = scripts.slice(0, index).reduce((sum, { length }) => sum + length, 0);
      const texts = told.results.slice(start, start + (scripts[index]?.length ?? 0)).map(({ text }) => text);
      const all = texts.join('\n');
      if (all.includes(canary)) return { way, state: 'shown' };
      if (isEdit || all.includes(mark)) return { way, state: 'hidden' };
      if (needs !== undefined && missing.has(needs.program)) return { way, state: 'missing', needs };
      return { way, state: 'nothing', why: texts.at(-1)?.split('\n')[0] ?? '' };
    });
    // The hook at the start of a session shows what earlier ones did.
    const next = await client.run(client.program, [], options);
    const isShown = next.requests.join('\n').includes(canary);
    return checkOf(client, [...results, { way: 'hook', state: isShown ? 'shown' : 'hidden' }], told.requests, canary);
  } finally {
    project.remove(`${name}/${FILE}`);
    project.removeDirectory(name);
  }
}

async function missingPrograms(context: CliContext, { ways }: Client): Promise<Set<string>> {
  const needed = [...new Set(ways.flatMap(({ needs }) => (needs === undefined ? [] : [needs.program])))];
  const found = await Promise.all(needed.map(async (program) => (await askVersion(context, program)).version));
  return new Set(needed.filter((_, index) => found[index] === undefined));
}

function checkOf(
  { name, setUp }: Client,
  results: readonly Result[],
  requests: readonly string[],
  canary: string,
): Check {
  const title = `canary in ${name}`;
  const waysOf = (state: Result['state']): string =>
    results
      .filter((one) => one.state === state)
      .map((one) => (one.state === 'nothing' ? `${one.way} ("${one.why}")` : one.way))
      .join(', ');
  const shown = waysOf('shown') || (requests.join('\n').includes(canary) ? 'another way' : '');
  if (shown !== '')
    return fail(
      title,
      `the model saw the secret by ${shown}`,
      `Run \`ctxd init ${setUp}\` in the project, then \`ctxd doctor --clients\` again.`,
    );
  const hidden = `the model did not see the secret by ${waysOf('hidden')}`;
  const nothing = waysOf('nothing');
  const [missing] = results.flatMap((one) => (one.state === 'missing' ? [one] : []));
  if (nothing === '' && missing !== undefined) {
    const { way, needs } = missing;
    const detail = `${hidden}; ${way} could not be tried, because ${name} runs it with ${needs.name} and \`${needs.program}\` is not on PATH`;
    return warn(title, detail, `${needs.install}, then run \`ctxd doctor --clients\` again.`);
  }
  if (nothing === '') return ok(title, hidden);
  return warn(
    title,
    `${hidden}; nothing came back by ${nothing}`,
    'If the client should have this tool, make it work, then run it again.',
  );
}
