import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallRoot } from '../src/config/install-root.ts';

const COLUMNS = 110;
const [CHARACTER_WIDTH, LINE_HEIGHT, MARGIN] = [7.8, 18, 16];
const COLOURS = { typed: '#7ee787', printed: '#e6edf3', own: '#ffa657' } as const;

/**
 * Draws docs/first-session.svg, the picture in the README, from a real run in a new project with an empty home. With
 * --check it only compares: the run must print what the picture shows, apart from digits.
 */
const root = findInstallRoot();
const file = join(root, 'docs/first-session.svg');
const svg = draw(record());
if (!process.argv.includes('--check')) writeFileSync(file, svg);
else if (shape(readFileSync(file, 'utf8')) !== shape(svg)) {
  process.stderr.write('docs/first-session.svg shows another session. Run node dist/scripts/draw-first-session.js.\n');
  process.exitCode = 1;
}

type Line = { text: string; kind: 'typed' | 'printed' | 'own' };

/** What a person types and sees, in order. */
function record(): Line[] {
  const base = mkdtempSync(join(tmpdir(), 'first-session-'));
  const [home, shop] = [join(base, 'home'), join(base, 'shop')];
  for (const dir of [home, shop]) mkdirSync(dir);
  // Two halves, so that this file holds nothing that looks like a key.
  writeFileSync(join(shop, '.env'), `API_KEY=${'k9f2'.repeat(2)}Zq7w${'x3b8'.repeat(3)}\n`);
  writeFileSync(
    join(shop, 'sum.test.js'),
    `require('node:test')('adds', () => require('node:assert').equal(1 + 1, 3));\n`,
  );
  const env = {
    PATH: `${join(root, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    CONTEXTD_HOME: join(base, 'contextd'),
  };
  const run = (command: string) => spawnSync('sh', ['-c', command], { cwd: shop, env, encoding: 'utf8' });
  const show = (command: string, lines: number): Line[] => {
    const { stdout, stderr } = run(command);
    const printed = `${stdout}${stderr}`.replaceAll(base, '/home/ann').trimEnd().split('\n');
    const own = (text: string): Line => ({ text, kind: text.startsWith('[contextd ') ? 'own' : 'printed' });
    return [
      { text: `$ ${command}`, kind: 'typed' },
      ...shortened(printed, lines).map(own),
      { text: '', kind: 'printed' },
    ];
  };
  try {
    return [
      ...show('ctxd init --no-toolchains', 2),
      ...show(`.claude/bin/safe_bash 'cat .env'`, 2),
      ...show(`.claude/bin/safe_bash 'seq 100000'`, 5),
      ...show(`.claude/bin/safe_bash 'echo hi >../elsewhere' && echo goes on`, 4),
      ...show('ctxd stats --days 1', 1),
    ];
  } finally {
    run('ctxd server stop');
    rmSync(base, { recursive: true, force: true });
  }
}

/** The first and last lines, with an ellipsis for the others. */
function shortened(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  const tail = Math.floor((most - 1) / 2);
  return [...lines.slice(0, most - 1 - tail), '…', ...lines.slice(lines.length - tail)];
}

function draw(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const texts = lines.map(({ text, kind }, index) => {
    const y = MARGIN + (index + 1) * LINE_HEIGHT - 4;
    const cut = [...text].length > COLUMNS ? `${[...text].slice(0, COLUMNS - 1).join('')}…` : text;
    return `  <text x="${MARGIN}" y="${y}" fill="${COLOURS[kind]}">${escapeXml(cut)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A first session with contextd">
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
${texts.join('\n')}
  </g>
</svg>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The picture without digits and without the height and places, which depend on nothing but the lines. */
function shape(svg: string): string {
  return svg.replaceAll(/[\d.,]+/g, '#');
}
