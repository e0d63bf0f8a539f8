import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { builtOf, findCitationFaults, REQUIREMENTS } from './requirements.ts';

/** The end of the names of files that the gate leaves to the night. */
const NIGHTLY = '.nightly.test.ts';

/** Returns the first argument of every call if it is text. This finds titles without knowing the function's name. */
function titlesOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) ? node.arguments : [];
    if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) titles.push(title.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

function filesOf(): string[] {
  const paths = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('.test.ts') && path !== 'requirements.test.ts');
}

const titlesIn = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => titlesOf(join(import.meta.dirname, path)));

it('the tests of the gate cite every requirement that is built, no open one and no unknown one', () => {
  const inGate = filesOf().filter((path) => !path.endsWith(NIGHTLY));
  expect(findCitationFaults(REQUIREMENTS, titlesIn(inGate))).toEqual([]);
  expect(findCitationFaults(REQUIREMENTS, titlesIn(filesOf()))).toEqual([]);
});

it('a title that cites an open or an unknown requirement is a fault', () => {
  const requirements = { 'FR-1.1': { text: 'built' }, 'FR-1.2': { text: 'not built', open: 'no door yet' } };
  expect(findCitationFaults(requirements, ["'FR-1.1 works'", "'FR-1.2 is NOT_IMPLEMENTED'", "'FR-9.9 x'"])).toEqual([
    "FR-1.2 is open (no door yet), so no test proves it: 'FR-1.2 is NOT_IMPLEMENTED'",
    "FR-9.9 is not a requirement: 'FR-9.9 x'",
  ]);
});

it('only what holds as it is written counts as built', () => {
  const requirements = {
    'FR-1.1': { text: 'built' },
    'FR-1.2': { text: 'half of it', partly: 'the other half' },
    'FR-1.3': { text: 'not built', open: 'no door yet' },
  };
  expect(builtOf(requirements)).toEqual(['FR-1.1']);
  expect(findCitationFaults(requirements, ["'FR-1.1 works'", "'FR-1.2 halfway'"])).toEqual([]);
  expect(findCitationFaults(requirements, ["'FR-1.1 works'"])).toEqual(['FR-1.2 is cited by no test']);
  const built = builtOf(REQUIREMENTS);
  expect(built).toContain('API-3');
  expect(built).toContain('NFR-2.2');
});

it('a requirement that is neither open nor cited is a fault, and so is an open one without a reason', () => {
  const requirements = { 'FR-1.1': { text: 'built' }, 'FR-1.2': { text: 'not built', open: '' } };
  expect(findCitationFaults(requirements, ["'another title'"])).toEqual([
    'FR-1.1 is cited by no test',
    'FR-1.2 is open without a reason',
  ]);
});
