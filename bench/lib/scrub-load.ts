import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionRef } from '../../src/call/session.ts';
import { findInstallRoot } from '../../src/config/install-root.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import { createEngine } from '../../src/scrub/hardened/engine.ts';
import { readRuleSources } from '../../src/scrub/rule-sources.ts';
import { createScanner } from '../../src/scrub/scan/scanner.ts';
import type { Scrubber } from '../../src/scrub/scrubber.ts';
import { createScrubber } from '../../src/scrub/session-scrubber.ts';
import { type Caller, installForBench } from './machine.ts';
import { type Contender, race, runProcess, spreadOf, timed } from './measure.ts';
import { type Figure, missingRow, type Row, rowsOf, sayStep, type Table } from './section.ts';
import { filesBelow } from './sources.ts';
import { findToolchain, goRoot } from './toolchains.ts';

const MIB = 1024 * 1024;
/** A search takes up to a second. */
const ROUNDS = 5;
/** A search of these can take seconds. */
const WORST_ROUNDS = 2;
const WORST_WARM_UPS = 1;
/** Milliseconds for a megabyte that is made to be found, and for a short call beside it. */
const WORST_MS = 1500;
const SHORT_MS = 200;
/** The time of a search, of that of a gitleaks spawn. */
const GITLEAKS_SHARE = 0.5;
const GITLEAKS = 'gitleaks, spawned';
const SEARCHED = 'searched and masked';
const GITLEAKS_ARGS = ['--no-banner', '--log-level=error', '--exit-code=0', '--max-decode-depth=5'];

/**
 * Long outputs as the daemon masks them, and a short call while they are searched. `gitleaks`: its path, or null.
 * `report` is called with each table.
 */
export async function measureLoad(gitleaks: string | null, report: (table: Table) => void): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-load-'));
  const scanner = createScanner({
    config: { deadline_base_ms: 120_000, deadline_per_kb_ms: 100 },
    logger: silentLogger,
    readRules: async () => readRuleSources(),
  });
  await scanner.start();
  try {
    const mask = maskerWith(scanner);
    const figures: Figure[] = [];
    const add = (table: Table): void => {
      report(table);
      figures.push(...figuresOf(table));
    };
    for (const [name, text] of await sources()) {
      sayStep(`1 MB of ${name}`);
      add(await besideGitleaks(name, text, { mask, gitleaks, dir }));
    }
    sayStep('1 MB that is made to be found');
    const worst = HOSTILE.map(([name, piece]): Contender => {
      const text = repeated(piece);
      return { name, once: async () => void (await mask(text)) };
    });
    add({
      title: '1 MB that is made to be found, ms',
      base: null,
      rows: rowsOf(await race(worst, WORST_ROUNDS, WORST_WARM_UPS)),
      aims: HOSTILE.map(([row]) => ({ row, atMost: WORST_MS, times: null })),
    });
    sayStep('echo hi while outputs are searched');
    add(await whileSearched());
    return figures;
  } finally {
    await scanner.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A table's aims as rows of the table of all aims. */
function figuresOf({ title, rows, aims }: Table): Figure[] {
  const medianOf = (name: string | null): number | null =>
    rows.find((row) => row.name === name)?.times?.medianMs ?? null;
  return aims.map(({ row, atMost, times }) => {
    const own = medianOf(row);
    const base = times === null ? 1 : medianOf(times);
    const value = own === null || base === null ? null : own / base;
    const unit = times === null ? 'ms' : '×';
    const shown = value === null ? 'not measured' : `${value.toFixed(times === null ? 0 : 2)} ${unit}`;
    return {
      name: `${title.replace(/, ms$/, '')}: ${row}`,
      value: own === null || times === null ? shown : `${shown} (${Math.round(own)} ms)`,
      aim: `≤ ${atMost} ${unit}`,
      isMet: value === null ? null : value <= atMost,
      beside: times === null || base === null ? '' : `${Math.round(base)} ms`,
    };
  });
}

type Mask = (text: string) => Promise<unknown>;

/** Masks each text as the first of a new session. */
function maskerWith(scanner: Parameters<typeof createScrubber>[0]['scanner']): Mask {
  const { pack, official } = readRuleSources();
  let last = 0;
  let sessions = 0;
  const scrubber: Scrubber = createScrubber({
    scanner,
    engine: createEngine(pack, { official, compile: 'when used' }),
    numbers: { next: () => ++last, last: () => last },
    logger: silentLogger,
    clock: systemClock,
  });
  return async (text) => {
    sessions += 1;
    const session: SessionRef = { project: '', session: `bench ${sessions}`, branch: null };
    await scrubber.scrub(session, text);
    scrubber.forget(session);
  };
}

interface Beside {
  mask: Mask;
  gitleaks: string | null;
  dir: string;
}

async function besideGitleaks(name: string, text: string, { mask, gitleaks, dir }: Beside): Promise<Table> {
  const file = join(dir, 'source.txt');
  writeFileSync(file, text);
  const contenders: Contender[] = [
    { name: SEARCHED, once: async () => void (await mask(text)) },
    ...(gitleaks === null
      ? []
      : [{ name: GITLEAKS, once: async () => void (await runProcess(gitleaks, ['dir', file, ...GITLEAKS_ARGS])) }]),
  ];
  return {
    title: `1 MB of ${name}, ms`,
    base: gitleaks === null ? null : GITLEAKS,
    rows: [
      ...rowsOf(await race(contenders, ROUNDS)),
      ...(gitleaks === null ? [missingRow(GITLEAKS, 'not installed: run ./install.sh --gitleaks')] : []),
    ],
    aims: [{ row: SEARCHED, atMost: GITLEAKS_SHARE, times: GITLEAKS }],
  };
}

async function sources(): Promise<[name: string, text: string][]> {
  const modules = join(findInstallRoot(), 'node_modules');
  const go = await findToolchain(goRoot);
  return [
    ['JavaScript of node_modules', filesBelow(modules, '.js')],
    ['Markdown of node_modules', filesBelow(modules, '.md')],
    ...(go === null ? [] : [["Go's library", filesBelow(join(go, 'src/net'), '.go')] satisfies [string, string]]),
  ];
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function random(chars: number): string {
  return Array.from(randomBytes(chars), (byte) => ALPHANUMERIC[byte % ALPHANUMERIC.length]).join('');
}

const token = (): string => `gh${'p_'}${random(36)}`;

/** Each piece is generated again, so that every secret is different. */
const HOSTILE: readonly [name: string, piece: () => string][] = [
  ['GitHub tokens', () => `${token()}\n`],
  ['the same URL with a user', () => 'https://u:p@'],
  ['URLs with a password', () => `https://${random(6)}:${random(12)}@h.example.com/\n`],
  ['quoted passwords', () => `password = "${random(16)}"\n`],
  ['variables with keys', () => `API_KEY_${random(4)}=${random(32)}\n`],
  ['tokens in base64', () => `${Buffer.from(token()).toString('base64')}\n`],
  ['passwords in JSON, one line', () => `{"password":"${random(16)}"},`],
  ['passwords in JSON within JSON, one line', () => `{\\"password\\":\\"${random(16)}\\"}`],
];

function repeated(piece: () => string, chars = MIB): string {
  const pieces: string[] = [];
  for (let length = 0; length < chars; length += pieces.at(-1)?.length ?? 1) pieces.push(piece());
  return pieces.join('').slice(0, chars);
}

const SHORT_CALLS = 12;

/** `echo hi` through a daemon, alone and while hostile outputs of other sessions are searched. */
async function whileSearched(): Promise<Table> {
  const at = await installForBench({});
  try {
    writeFileSync(join(at.project, 'tokens.txt'), repeated(HOSTILE[0]?.[1] ?? token));
    return await at.withDaemon(async (daemon) => {
      const rows: Row[] = [];
      await shortCalls(daemon, 3);
      for (const hostile of [0, 1, 2]) rows.push(...(await beside(daemon, hostile)));
      return {
        title: 'echo hi through the daemon, ms',
        base: ALONE,
        rows,
        aims: NAMES.slice(1).map((row) => ({ row, atMost: SHORT_MS, times: null })),
      };
    });
  } finally {
    await at.remove();
  }
}

const ALONE = 'alone';
const NAMES = [ALONE, 'while one output of 1 MB is searched', 'while two are searched'];

/** Short calls until the hostile ones are answered, or a few without hostile ones; and the hostile ones themselves. */
async function beside(daemon: Caller, hostile: number): Promise<Row[]> {
  let running = hostile;
  const long = Array.from({ length: hostile }, (_, i) =>
    timed(async () => void (await daemon.call('safe_bash', { command: 'cat tokens.txt' }, `hostile-${hostile}-${i}`)))
      .catch((thrown: unknown) => String(thrown))
      .finally(() => {
        running -= 1;
      }),
  );
  // The first search begins when the output has arrived.
  await delay(hostile === 0 ? 0 : 100);
  const samples: number[] = [];
  do samples.push(...(await shortCalls(daemon, hostile === 0 ? SHORT_CALLS : 1)));
  while (running > 0);
  const answers = await Promise.all(long);
  const failed = answers.find((answer) => typeof answer === 'string');
  const times = spreadOf(answers.filter((answer) => typeof answer === 'number'));
  const name = `  the ${hostile} long ${hostile === 1 ? 'output' : 'outputs'}`;
  const own = failed === undefined ? { name, times, note: '' } : missingRow(name, failed);
  return [{ name: NAMES[hostile] ?? '', times: spreadOf(samples), note: '' }, ...(hostile === 0 ? [] : [own])];
}

async function shortCalls(daemon: Caller, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++)
    samples.push(await timed(async () => void (await daemon.call('safe_bash', { command: 'echo hi' }))));
  return samples;
}
