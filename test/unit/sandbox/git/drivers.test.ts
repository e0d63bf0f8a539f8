import { expect, test } from 'vitest';
import { parseGitConfig } from '#src/guard/git/config.js';
import { type Driver, driversIn, withDrivers, writeDriver } from '#src/sandbox/git/drivers.js';

const PRESENT = new Set(['present', 'sh', '/opt/present', 'with space']);
const hasProgram = (program: string): boolean => PRESENT.has(program);
const filter = (values: Driver['values']): Driver => ({ kind: 'filter', name: 'x', values });
/** What git reads of the driver that is written. */
const read = (driver: Driver) => driversIn(parseGitConfig(writeDriver(driver, hasProgram)) ?? [])[0]?.values;
const refused = (program: string) => ({
  clean: `sh /etc/contextd-git-driver clean 'x' '${program}' %f`,
  smudge: `sh /etc/contextd-git-driver smudge 'x' '${program}' %f`,
  required: 'true',
});

test('a filter whose programs are there is passed on as it is, and is required', () => {
  const values = { clean: 'present clean -- %f', smudge: 'present', process: '/opt/present -p', required: 'true' };
  expect(read(filter(values))).toEqual(values);
  expect(read(filter({ clean: 'present' }))).toEqual({ clean: 'present', smudge: 'cat', required: 'true' });
  expect(read(filter({ process: 'present', required: 'false' }))).toEqual({ process: 'present', required: 'true' });
  expect(read(filter({ smudge: 'present', required: null }))).toEqual({ smudge: 'present', required: null });
});

test('a filter of which one program is missing is replaced by one that refuses', () => {
  expect(read(filter({ clean: 'missing clean', required: 'false' }))).toEqual(refused('missing'));
  expect(read(filter({ clean: 'present', smudge: 'present', process: '/opt/missing' }))).toEqual(
    refused('/opt/missing'),
  );
});

test.each([
  ['present -e \'s/a|b/$(x)/\' "a; b" c\\ d', true],
  ['"present" clean', true],
  ["'with space' -x", true],
  ['with\\ space', true],
  ['present | missing', false],
  ['missing | present', false],
  ['present && missing', false],
  ['present $(missing)', false],
  ['present `missing`', false],
  ['present "$HOME"', false],
  ['present > out', false],
  ['A=1 present', false],
  ['~/present', false],
  ['{ present; }', false],
  ["present 'unclosed", false],
  ['present &', false],
])('only a command of one program with plain arguments can be checked: %s', (clean, isKnown) => {
  expect(read(filter({ clean }))?.clean === clean).toBe(isKnown);
});

test('a merge driver that is missing is replaced too; one that is there stays as it is', () => {
  const merge = (driver: string): Driver => ({ kind: 'merge', name: 'own', values: { driver, recursive: 'binary' } });
  expect(read(merge('present %O %A %B'))).toEqual({ driver: 'present %O %A %B', recursive: 'binary' });
  expect(read(merge('missing %A'))).toEqual({
    name: 'own',
    driver: "sh /etc/contextd-git-driver merge 'own' 'missing'",
  });
});

test('no name of a driver or program ends the quotes around it', () => {
  const driver: Driver = { kind: 'filter', name: 'a"\\b\'; id; %f', values: { clean: "'; id; '" } };
  const [back] = driversIn(parseGitConfig(writeDriver(driver, hasProgram)) ?? []);
  expect(back).toMatchObject({
    name: driver.name,
    values: { clean: expect.stringMatching(/^sh \S+ clean '[^']*' '[^']*' %f$/) },
  });
});

test("a repository's configuration keeps its other keys, and its drivers are replaced where they must be", () => {
  const text =
    '[core]\n\tbare = false\n[filter "x"]\n\tclean = missing\n\tprocess = missing\n[remote "o"]\n\turl = u\n';
  const written = withDrivers(text, [], [], hasProgram);
  expect(parseGitConfig(written)).toEqual([
    { key: 'core.bare', subsection: null, value: 'false' },
    { key: 'remote.url', subsection: 'o', value: 'u' },
    ...Object.entries(refused('missing')).map(([key, value]) => ({ key: `filter.${key}`, subsection: 'x', value })),
  ]);
  const known = '[filter "x"]\n\tclean = present\n\tsmudge = present\n\trequired\n';
  expect(withDrivers(known, [], [], hasProgram)).toBe(known);
});

test('what a repository and its included files say of a driver counts together with what the person says', () => {
  const person = [filter({ clean: 'present', smudge: 'present', required: 'true' })];
  expect(withDrivers('[a]\n\tb\n', [], person, hasProgram)).toBe('[a]\n\tb\n');
  const unset = driversIn(
    parseGitConfig(withDrivers('[filter "x"]\n\trequired = false\n', [], person, hasProgram)) ?? [],
  );
  expect(unset[0]?.values).toMatchObject({ clean: 'present', required: 'true' });
  // Commands do not have the included file.
  const known = Object.entries({ clean: 'present', smudge: 'present', required: 'true' });
  const entries = known.map(([key, value]) => ({ key: `filter.${key}`, subsection: 'y', value }));
  const [written] = driversIn(parseGitConfig(withDrivers('[a]\n\tb\n', entries, [], hasProgram)) ?? []);
  expect(written).toMatchObject({ name: 'y', values: Object.fromEntries(known) });
  const included = [{ key: 'filter.process', subsection: 'x', value: 'missing' }];
  const stopped = driversIn(parseGitConfig(withDrivers('', included, person, hasProgram)) ?? []);
  expect(stopped[0]?.values).toEqual({
    ...refused('missing'),
    process: "sh /etc/contextd-git-driver process 'x' 'missing'",
  });
});
