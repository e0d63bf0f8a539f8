import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseGitConfig } from '#src/guard/git/config.js';
import { makeWorkspace, startJail, systemMounts, whyNoJail } from '../fixtures/plain-jail.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

const missing = whyNoJail();
if (missing !== null) process.stderr.write(`SKIPPED: git configurations were not compared with git: ${missing}\n`);

let ground: ReturnType<typeof makeWorkspace>;
beforeEach(() => {
  ground = makeWorkspace();
});
afterEach(() => ground.remove());

/** Pieces from which valid and broken configurations are made. */
const PIECE = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('[core]', '[a "b"]', '[A.B]', '[x "q\\"r\\\\s"]', '[ core]', '[core ]', '[]'),
  },
  { weight: 3, arbitrary: fc.constantFrom('key', 'k-1', 'fsmonitor', 'K', '1k', 'worktree') },
  { weight: 4, arbitrary: fc.constantFrom('=', ' = ', '\t=\t', '=\r') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('v', 'a b', ' x\ty ', '"q"', '"a # b"', '\\n', '\\t', '\\"', '\\\\', '\\q', '"', ';'),
  },
  { weight: 5, arbitrary: fc.constantFrom('\n', '\r\n', '\r', ' ', '\t', '\\\n', '\\\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('# c', '; c', '[', ']', '[core', '\u00e9', '\ufeff', '.', '!') },
);
const CONFIG = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: PIECE },
      { weight: 1, arbitrary: fc.constantFrom('[core]\n\tkey = v\n', '\nk=\\\n v') },
    ),
    {
      maxLength: 14,
    },
  )
  .map((pieces) => pieces.join(''));

/** The answer of `git config --list -z` for each file; null if git refuses the file. */
async function askGit(count: number): Promise<(string[] | null)[]> {
  const script = `for i in $(seq 0 ${count - 1}); do git config --file $i --no-includes --list -z >$i.out 2>/dev/null || : >$i.bad; done`;
  const jail = startJail({
    script,
    cwd: ground.workspace,
    mounts: [...systemMounts(ground.base), { kind: 'bind', source: ground.workspace, dest: ground.workspace }],
  });
  await jail.exited;
  return Array.from({ length: count }, (_, index) => {
    const read = (name: string) => readFileSync(join(ground.workspace, name), 'latin1');
    try {
      read(`${index}.bad`);
      return null;
    } catch {
      return read(`${index}.out`).split('\0').slice(0, -1);
    }
  });
}

/** Formats an entry as git prints it; git 2.39 turns a tab or carriage return within a value into a space. */
function printed(text: string): string[] | null {
  const entries = parseGitConfig(text);
  return (
    entries?.map(({ key, subsection, value }) => {
      const name = subsection === null ? key : key.replace('.', () => `.${subsection}.`);
      return flat(value === null ? name : `${name}\n${value}`);
    }) ?? null
  );
}

function flat(text: string): string {
  return text.replace(/[\t\r]/g, ' ');
}

test.skipIf(missing !== null)(
  'SEC-2.3 reads a configuration as git itself reads it',
  { timeout: 600_000 },
  async () => {
    const texts = fc.sample(CONFIG, { numRuns: propertyRuns(), seed: Number(process.env.CONTEXTD_PROPERTY_SEED ?? 7) });
    for (const [index, text] of texts.entries()) writeFileSync(join(ground.workspace, String(index)), text);
    const answers = await askGit(texts.length);
    expect(answers.filter((answer) => answer !== null && answer.length > 0).length).toBeGreaterThan(texts.length / 20);
    for (const [index, text] of texts.entries()) {
      const answer = answers[index]?.map(flat) ?? null;
      expect([JSON.stringify(text), printed(Buffer.from(text, 'utf8').toString('latin1'))]).toEqual([
        JSON.stringify(text),
        answer,
      ]);
    }
  },
);
