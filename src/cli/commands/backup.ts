import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type CreatedBackup, createBackup } from '../../backup/create.ts';
import { type RestoredBackup, restoreBackup } from '../../backup/restore.ts';
import { systemClock } from '../../core/clock.ts';
import { silentLogger } from '../../core/log.ts';
import { withClient } from '../client.ts';
import { type Command, defineCommand } from '../command.ts';
import { countOf } from '../render.ts';

const FILE = { syntax: '<file>', help: 'the backup: a gzipped tar archive' };

const create = defineCommand<CreatedBackup>({
  name: ['backup', 'create'],
  summary: 'Write the state to a new file, without keys, tokens and credentials. The daemon goes on meanwhile.',
  parameters: [FILE],
  options: [
    {
      syntax: '--no-files',
      help: 'leave out the files of projects that undo, checkpoints and branches keep: they hold what was in them, secrets too',
    },
  ],
  async run({ paths, cwd, version }, args) {
    const target = resolve(cwd, args.requiredWord(0));
    const withFiles = !args.isOff('files');
    const copy = await withClient(paths, (client) => client.copyState({ file: target }));
    try {
      return await createBackup({ paths, target, copy, version, host: hostname(), nowMs: Date.now(), withFiles });
    } finally {
      await rm(copy.directory, { recursive: true, force: true });
    }
  },
  view: (backup) => ({ kind: 'lines', lines: createdLines(backup) }),
});

/** What a person has to give again on the other machine, by table. */
const AGAIN: Readonly<Record<string, readonly [word: string, how: string]>> = {
  network_credentials: ['bound credential', '`ctxd network credential add HOST`'],
  http_tokens: ['HTTP token', '`ctxd http token`'],
  allowed_values: ['allowed value', '`ctxd scrub allow`'],
};

function createdLines(backup: CreatedBackup): string[] {
  const { file, bytes, artifacts, segments, tools, projects_with_files: withFiles, left_out } = backup;
  const { rows, servers, branches, projects, variables, artifacts: unknown } = left_out;
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  const parts = [
    countOf(artifacts, 'large artifact'),
    countOf(segments, 'audit segment'),
    ...(tools > 0 ? [countOf(tools, 'installed tool')] : []),
    ...(withFiles > 0 ? [`the undo, checkpoints and branches of ${countOf(withFiles, 'project')}`] : []),
  ];
  const again = Object.entries(AGAIN).flatMap(([table, [word, how]]) =>
    (rows[table] ?? 0) > 0 ? [`left out: ${countOf(rows[table] ?? 0, word)}; give again with ${how}`] : [],
  );
  return [
    `${file}: ${size}, with ${parts.join(', ')}`,
    ...again,
    ...(servers.length > 0 ? [`left out: the variables of the MCP servers ${servers.join(', ')}`] : []),
    ...(variables.length > 0
      ? [`left out: the variables of tools ${variables.join(', ')}; give again with \`ctxd config set tools.env JSON\``]
      : []),
    ...branches.map(({ id, why }) => `left out: the files that only branch ${id} has (${why})`),
    ...projects.map(
      (project) => `left out: undo and the files of checkpoints of ${project}, which is not on this machine`,
    ),
    ...(unknown > 0 ? [`left out: ${countOf(unknown, 'artifact')} of sessions that are not known any more`] : []),
    `It holds what agents saw${withFiles > 0 ? ', what was in files of projects, with the secrets in them' : ''}, and files that are accepted as they are: keep it as private as the state itself.`,
  ];
}

const restore = defineCommand<RestoredBackup>({
  name: ['backup', 'restore'],
  summary: 'Put a backup into an empty state. Checks all of it before it writes anything.',
  parameters: [FILE],
  run: ({ paths, cwd }, args) =>
    restoreBackup({ file: resolve(cwd, args.requiredWord(0)), paths, clock: systemClock, logger: silentLogger }),
  view: ({ made, host, artifacts, logs, tools, projects_with_files: projects, has_settings }) => ({
    kind: 'lines',
    lines: [
      `restored the state of ${host} from ${made}, with ${countOf(artifacts, 'large artifact')} and ${countOf(tools, 'installed tool')}`,
      ...logs.map((log) => `audit log: \`ctxd audit verify --of ${log}\``),
      ...(has_settings ? ['settings: those of the backup'] : []),
      ...(projects > 0
        ? [
            `undo, checkpoints and branches: of ${countOf(projects, 'project')}; copy the projects to the same paths, or nothing can be put back in them`,
          ]
        : []),
      'Run `ctxd init` in each project: links lead to the contextd of this machine.',
    ],
  }),
});

export const backupCommands: readonly Command[] = [create, restore];
