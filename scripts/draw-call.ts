import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolProgram } from '../src/call/tool-program.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { SURFACES } from '../src/core/surfaces.ts';
import { STEPS } from '../src/dispatch/dispatch.ts';

const WIDTH = 1080;
const [LEFT, CARD, BESIDE] = [40, 640, 760];
/** The distance of the steps in the picture of a call, and its first one. */
const [ROW, TOP] = [46, 112];

/** What a step uses outside the main thread of the daemon. */
const USES: Readonly<Record<string, string>> = {
  verify: 'accepted tools: data/tools/<sha256>',
  open_secrets: 'vault of [SECRET_n]',
  run: 'spawner → bubblewrap → process, command',
  scrub: 'search threads',
  store: 'artifacts, SQLite',
  budget: 'cursors',
  audit: 'audit log, journal',
};

/** The rows of the table of docs/gateway.md by the step of the call that does them. `answer` is the steps from scrub on. */
const EXECUTED: Readonly<Record<string, readonly string[]>> = {
  verify: ['find', 'repair', 'check'],
  authorize: ['limits of calls', 'rules of a person', 'dry run'],
  run: ['kept answer', 'run'],
  scrub: ['answer'],
};

/** From a client to the surface or the link through which it calls. */
const WAYS: readonly (readonly string[])[] = [
  ['Claude Code, OpenCode, any MCP client', 'ctxd mcp serve', 'standard input and output'],
  ['an MCP client over HTTP', 'POST /mcp', 'loopback, a token of a person'],
  ['a shell, a script', 'the link tool_execute', 'unix socket, mutual TLS'],
];

/** Where the tool of each kind runs. */
const RUNS_IN: Readonly<Record<ToolProgram['kind'], string>> = {
  upstream: 'MCP server, in a sandbox of its own',
  plugin: 'tool process, in a sandbox of the project',
  host: 'a verb of the daemon: no process',
};

const STYLE = `.page{fill:#fff}.card{fill:#f6f8fa;stroke:#8c959f}.surface{fill:#ddf4ff;stroke:#54aeff}text{fill:#1f2328}.bold{font-weight:bold}.quiet{fill:#59636e}
    .code{fill:#59636e;font:12px ui-monospace,monospace}.line{fill:none;stroke:#8c959f}.arrow{fill:none;stroke:#57606a;stroke-width:1.5}
    @media (prefers-color-scheme:dark){.page{fill:#0d1117}.card{fill:#151b23;stroke:#656c76}.surface{fill:#10233c;stroke:#4493f8}text{fill:#f0f6fc}.quiet,.code{fill:#9198a1}.line{stroke:#656c76}.arrow{stroke:#9198a1}}`;

const root = findInstallRoot();
const sentences = readSentences();

/**
 * Draws docs/call.svg, the way of a call in ARCHITECTURE.md, and docs/executed-call.svg, that of a call of tool_execute in
 * docs/gateway.md: from the list of steps, the sentence with which the file of each begins, and the table of that page. With
 * --check it only compares.
 */
for (const [name, svg] of [
  ['docs/call.svg', drawCall()],
  ['docs/executed-call.svg', drawExecutedCall()],
] as const) {
  const file = join(root, name);
  if (!process.argv.includes('--check')) writeFileSync(file, svg);
  else if (readFileSync(file, 'utf8') !== svg) {
    process.stderr.write(`${name} shows something else. Run node dist/scripts/draw-call.js.\n`);
    process.exitCode = 1;
  }
}

function drawCall(): string {
  const end = TOP + STEPS.length * ROW;
  return picture('The way of a call', end + 76, [
    text(LEFT, 34, "agent: .claude/tools/safe_bash/safe_bash 'npm test'  →  contextd-proxy", 'bold'),
    text(LEFT, 54, 'gRPC over mutual TLS, unix socket 0600'),
    arrow(LEFT + 20, 64, TOP - 26),
    text(LEFT, TOP - 8, 'contextd: the daemon, one step after the other (src/dispatch/dispatch.ts)', 'bold'),
    ...STEPS.map(({ name }, index) => step(name, index)),
    arrow(LEFT + 20, end, end + 24),
    text(LEFT, end + 46, 'the answer: text, or one line of JSON; the rest behind a cursor', 'bold'),
  ]);
}

function step(name: string, index: number): string {
  const y = TOP + index * ROW;
  const uses = USES[name];
  const beside = uses === undefined ? [] : [dashes(y + 19), text(BESIDE, y + 23, uses)];
  const words = text(LEFT + 12, y + 23, `${index + 1}  ${named(name)}`, 'bold');
  const sentence = text(LEFT + 140, y + 23, sentences.get(index + 1) ?? '');
  return [card(LEFT, y, CARD, ROW - 8), words, sentence, ...beside].join('\n');
}

function drawExecutedCall(): string {
  const rows = readExecutedRows();
  const top = 262;
  const heights = STEPS.map(({ name }) => (EXECUTED[name] === undefined ? 36 : 54));
  const yOf = (index: number): number => top + heights.slice(0, index).reduce((sum, height) => sum + height, 0);
  const end = yOf(STEPS.length);
  return picture('The way of a call of tool_execute', end + 84, [
    ...WAYS.flatMap(way),
    card(LEFT, 152, 656, 44, 'surface'),
    text(LEFT + 12, 171, `a surface: ${SURFACES.join(' · ')}`, 'bold'),
    text(LEFT + 12, 188, 'names and lists only: every call becomes a call of the daemon', 'quiet'),
    arrow(LEFT + 20, 196, top - 26),
    `  <path d="M${LEFT + 700} 126V${yOf(0) + 14}H${LEFT + CARD + 6}m6 -4l-6 4l6 4" class="arrow"/>`,
    text(LEFT + 40, 222, 'tool_execute {"tool_id": …, "args": …}', 'code'),
    text(LEFT, top - 8, 'contextd: the daemon, one step after the other', 'bold'),
    ...STEPS.map(({ name }, index) => executedStep(name, index, yOf(index), (heights[index] ?? 0) - 8, rows)),
    ...backends(yOf(STEPS.findIndex(({ name }) => name === 'run'))),
    arrow(LEFT + 20, end, end + 24),
    text(LEFT, end + 46, 'the answer; what it leaves out is stored, and a line says how to read on:', 'bold'),
    text(LEFT, end + 66, '[contextd 1,980 of 21,742 tokens · rest: tool_execute {"continuation":"7"}]', 'code'),
  ]);
}

function way([client = '', door = '', how = '']: readonly string[], index: number): string[] {
  const x = LEFT + index * 340;
  return [
    card(x, 20, 316, 32),
    text(x + 12, 40, client),
    arrow(x + 20, 52, 74),
    card(x, 76, 316, 50),
    text(x + 12, 96, door, 'bold'),
    text(x + 12, 114, how, 'quiet'),
    ...(index < 2 ? [arrow(x + 20, 126, 150)] : []),
  ];
}

/** A step with the rows of the table that it does, or its sentence. */
function executedStep(
  name: string,
  index: number,
  y: number,
  height: number,
  rows: ReadonlyMap<string, string>,
): string {
  const does = EXECUTED[name];
  const words = text(LEFT + 12, y + 19, `${index + 1}  ${named(name)}`, 'bold');
  if (does === undefined)
    return [card(LEFT, y, CARD, height), words, text(LEFT + 140, y + 19, sentenceOf(index))].join('\n');
  const settings = does.map((row) => rows.get(row) ?? '').filter((setting) => setting !== '');
  const below = settings.length > 0 ? settings.join(' · ') : sentenceOf(index);
  const what = name === 'scrub' ? 'answer: this step and those that follow' : does.join('  →  ');
  return [
    card(LEFT, y, CARD, height),
    words,
    text(LEFT + 140, y + 19, what),
    text(LEFT + 140, y + 37, below, settings.length > 0 ? 'code' : 'quiet'),
  ].join('\n');
}

/** Without the marks of a docstring. */
function sentenceOf(index: number): string {
  return (sentences.get(index + 1) ?? '').replaceAll('`', '');
}

/** Beside the step that runs the tool. */
function backends(y: number): string[] {
  const programs = Object.values(RUNS_IN);
  const first = y + 23 - (programs.length * 34) / 2;
  return programs.flatMap((program, index) => {
    const at = first + index * 34;
    return [
      `  <path d="M${LEFT + CARD} ${y + 23}L${BESIDE - 40} ${at + 13}" class="line" stroke-dasharray="3 3"/>`,
      card(BESIDE - 38, at, 318, 26, 'surface'),
      text(BESIDE - 26, at + 18, program),
    ];
  });
}

/** The settings of the table of docs/gateway.md by its rows. Throws if a row belongs to no step. */
function readExecutedRows(): ReadonlyMap<string, string> {
  const [, table = ''] =
    /\| step \| what happens \| setting \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(
      readFileSync(join(root, 'docs/gateway.md'), 'utf8'),
    ) ?? [];
  const rows = new Map(
    table
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [, name = '', , setting = ''] = line.split('|').map((cell) => cell.trim());
        return [name, setting.replaceAll('`', '')] as const;
      }),
  );
  const placed = Object.values(EXECUTED).flat();
  const misplaced = [...rows.keys(), ...placed].filter((name) => !rows.has(name) || !placed.includes(name));
  if (misplaced.length > 0) throw new Error(`docs/gateway.md and the picture differ in ${misplaced.join(', ')}`);
  return rows;
}

/** By number of the step, the first clause of its docstring: "Step 5: runs the tool in its process, …". */
function readSentences(): ReadonlyMap<number, string> {
  const dir = join(root, 'src/dispatch');
  const found = new Map<number, string>();
  for (const name of readdirSync(dir).filter((one) => one.endsWith('.ts'))) {
    const comment = readFileSync(join(dir, name), 'utf8').replaceAll(/\n\s*\*\s?/g, ' ');
    for (const [, number, sentence = ''] of comment.matchAll(/\bStep (\d)[^:.]*: ([^.:;]+)/g))
      found.set(Number(number), shortened(sentence.trim()));
  }
  return found;
}

/** Whole clauses, as far as they fit into the card. */
function shortened(sentence: string): string {
  const clauses = sentence.split(', ');
  while (clauses.length > 1 && clauses.join(', ').length > 78) clauses.pop();
  return clauses.join(', ');
}

function named(step: string): string {
  return step.replaceAll('_', ' ');
}

function picture(label: string, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
  <style>
    ${STYLE}
  </style>
  <rect width="100%" height="100%" rx="8" class="page"/>
  <g font-family="system-ui, sans-serif" font-size="13">
${parts.join('\n')}
  </g>
</svg>
`;
}

function card(x: number, y: number, width: number, height: number, kind: 'card' | 'surface' = 'card'): string {
  return `  <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="5" class="${kind}"/>`;
}

function text(x: number, y: number, words: string, kind: 'plain' | 'bold' | 'quiet' | 'code' = 'plain'): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `  <text x="${x}" y="${y}" class="${kind}" xml:space="preserve">${escaped}</text>`;
}

function dashes(y: number): string {
  return `  <path d="M${LEFT + CARD} ${y}h${BESIDE - LEFT - CARD - 8}" class="line" stroke-dasharray="3 3"/>`;
}

function arrow(x: number, from: number, to: number): string {
  return `  <path d="M${x} ${from}V${to}m-4 -6l4 6l4 -6" class="arrow"/>`;
}
