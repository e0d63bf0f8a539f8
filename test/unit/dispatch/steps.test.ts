import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STEPS } from '#src/dispatch/dispatch.js';

const ROOT = join(import.meta.dirname, '../../..');
const ARCHITECTURE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const PICTURE = readFileSync(join(ROOT, 'docs/call.svg'), 'utf8');
const WORDS = STEPS.map(({ name }) => name.replaceAll('_', ' '));

it('ARCHITECTURE.md explains the steps in the order of the list, with the file of each', () => {
  const explained = [...ARCHITECTURE.matchAll(/^(\d)\. \*\*([a-z ]+)\*\* \(`([a-z-]+\.ts)`/gm)];
  expect(explained.map(([, number, words]) => `${number} ${words}`)).toEqual(
    WORDS.map((words, index) => `${index + 1} ${words}`),
  );
  expect(explained.filter(([, , , file = '']) => !existsSync(join(ROOT, 'src/dispatch', file)))).toEqual([]);
});

it('the picture of a call shows the steps in the order of the list, each with its sentence', () => {
  const drawn = [...PICTURE.matchAll(/>(\d) {2}([a-z ]+)<\/text>\n.*>([^<]+)</g)];
  expect(drawn.map(([, number, words]) => `${number} ${words}`)).toEqual(
    WORDS.map((words, index) => `${index + 1} ${words}`),
  );
  const sources = readdirSync(join(ROOT, 'src/dispatch'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, 'src/dispatch', name), 'utf8').replaceAll(/\n\s*\*\s?/g, ' '));
  for (const [, number, , sentence = ''] of drawn) {
    const said = sources.filter(
      (source) => new RegExp(`Step ${number}[^:.]*: `).test(source) && source.includes(sentence),
    );
    expect(said, sentence).toHaveLength(1);
  }
});
