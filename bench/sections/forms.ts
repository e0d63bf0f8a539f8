import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCounter } from '../../src/tokens/counter.ts';
import { installForBench } from '../lib/machine.ts';
import type { Fact, Section } from '../lib/section.ts';

/** Calls in words and what else is needed to make the same call in JSON. */
const CALLS: readonly { name: string; tool: string; words: string; json: object }[] = [
  bash('true', 'true'),
  bash('a one-line error', 'cat missing.txt'),
  bash('something denied', 'touch /etc/new'),
  bash('a failed test run', 'cat failed-vitest.txt; exit 1'),
  bash('an output over the budget', 'seq 100000'),
  { name: 'a missing file', tool: 'safe_read', words: 'missing.txt', json: { path: 'missing.txt' } },
];

/** Tokens that an agent reads for a call: everything on both descriptors. */
export const formsSection: Section = {
  async run() {
    const at = await installForBench({});
    try {
      const counter = loadCounter();
      copyFileSync(join(at.root, 'test/fixtures/outputs/failed-vitest.txt'), join(at.project, 'failed-vitest.txt'));
      const cost = (program: string, argument: string): number => {
        const { stdout, stderr } = spawnSync(program, [argument], { cwd: at.project, env: at.env, encoding: 'utf8' });
        return counter.count(stdout) + counter.count(stderr);
      };
      const facts: Fact[] = [{ name: 'call', value: figures(['alone', 'text', 'JSON']) }];
      for (const { name, tool, words, json } of CALLS) {
        const link = `.claude/tools/${tool}/${tool}`;
        const alone = tool === 'safe_bash' ? spawnCost(words, at.project, counter.count.bind(counter)) : '';
        facts.push({ name, value: figures([alone, cost(link, words), cost(link, JSON.stringify(json))]) });
      }
      return { tables: [], facts };
    } finally {
      await at.remove();
    }
  },
};

/** Tokens that the command prints without contextd. `touch /etc/new` is not run: it would work. */
function spawnCost(command: string, cwd: string, count: (text: string) => number): number | string {
  if (command.startsWith('touch')) return '';
  const { stdout, stderr } = spawnSync('bash', ['-c', command], { cwd, encoding: 'utf8' });
  return count(stdout) + count(stderr);
}

function bash(name: string, command: string): (typeof CALLS)[number] {
  return { name, tool: 'safe_bash', words: command, json: { command } };
}

function figures(cells: readonly (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(9)).join(' ');
}
