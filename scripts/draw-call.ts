import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallRoot } from '../src/config/install-root.ts';
import { STEPS } from '../src/dispatch/dispatch.ts';

const [WIDTH, ROW, TOP] = [1080, 46, 112];
const [LEFT, CARD, BESIDE] = [40, 640, 760];

/** What a step uses outside the main thread of the daemon. */
const USES: Readonly<Record<string, string>> = {
  verify: 'accepted tools: data/tools/<sha256>',
  open_secrets: 'vault of [SECRET_n]',
  run: 'spawner → bubblewrap → tool process, command',
  scrub: 'search threads',
  store: 'artifacts, SQLite',
  budget: 'cursors',
  audit: 'audit log, journal',
};

/**
 * Draws docs/call.svg, the way of a call in ARCHITECTURE.md, from the list of steps and the sentence with which the file of
 * each begins. With --check it only compares.
 */
const root = findInstallRoot();
const file = join(root, 'docs/call.svg');
const svg = draw();
if (!process.argv.includes('--check')) writeFileSync(file, svg);
else if (readFileSync(file, 'utf8') !== svg) {
  process.stderr.write('docs/call.svg shows other steps. Run node dist/scripts/draw-call.js.\n');
  process.exitCode = 1;
}

function draw(): string {
  const height = TOP + STEPS.length * ROW + 76;
  const sentences = readSentences();
  const steps = STEPS.map(({ name }, index) => step(name, index, sentences.get(index + 1) ?? ''));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="The way of a call">
  <rect width="100%" height="100%" rx="8" fill="#ffffff"/>
  <g font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">
${text(LEFT, 34, "agent: .claude/tools/safe_bash/safe_bash 'npm test'  →  contextd-proxy", 'bold')}
${text(LEFT, 54, 'gRPC over mutual TLS, unix socket 0600')}
${arrow(LEFT + 20, 64, TOP - 26)}
${text(LEFT, TOP - 8, 'contextd: the daemon, one step after the other (src/dispatch/dispatch.ts)', 'bold')}
${steps.join('\n')}
${arrow(LEFT + 20, TOP + STEPS.length * ROW, TOP + STEPS.length * ROW + 24)}
${text(LEFT, TOP + STEPS.length * ROW + 46, 'the answer: text, or one line of JSON; the rest behind a cursor', 'bold')}
  </g>
</svg>
`;
}

function step(name: string, index: number, sentence: string): string {
  const y = TOP + index * ROW;
  const uses = USES[name];
  const box = `  <rect x="${LEFT}" y="${y}" width="${CARD}" height="${ROW - 8}" rx="5" fill="#f6f8fa" stroke="#8c959f"/>`;
  const beside =
    uses === undefined
      ? []
      : [
          `  <path d="M${LEFT + CARD} ${y + 19}h${BESIDE - LEFT - CARD - 8}" stroke="#8c959f" stroke-dasharray="3 3"/>`,
          text(BESIDE, y + 23, uses),
        ];
  const words = `${index + 1}  ${name.replaceAll('_', ' ')}`;
  return [box, text(LEFT + 12, y + 23, words, 'bold'), text(LEFT + 140, y + 23, sentence), ...beside].join('\n');
}

function text(x: number, y: number, words: string, weight = 'normal'): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `  <text x="${x}" y="${y}" font-weight="${weight}" xml:space="preserve">${escaped}</text>`;
}

function arrow(x: number, from: number, to: number): string {
  return `  <path d="M${x} ${from}V${to}m-4 -6l4 6l4 -6" fill="none" stroke="#57606a" stroke-width="1.5"/>`;
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
