import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import {
  CLIENT_PLACES,
  clientMerges,
  findOtherClients,
  OTHER_CLIENTS,
  type OtherClient,
  readClientNames,
} from '#src/cli/init/clients/other-clients.js';
import { hasEntry, withdraw } from '#src/cli/init/json-edit.js';
import { layoutFor, mergesFor } from '#src/cli/init/layout.js';
import { merge, unmerge } from '#src/cli/init/merged-file.js';
import { prepareInit } from '#src/cli/init/project.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { createFixture, type Fixture, PROXY, snapshot, TOOLS } from './tree.ts';

const ROOT = '/srv/the shop';
const FILES = OTHER_CLIENTS.flatMap((name) =>
  [...clientMerges(name, ROOT, PROXY)].map(([path, addition]) => ({ path, addition })),
);

/** The files of Claude Code and OpenCode too, and of git. */
const ALL_FILES = [
  ...mergesFor({ core: ['safe_bash'], installed: [], absent: [] }, ROOT, PROXY, true, OTHER_CLIENTS),
].map(([path, addition]) => ({ path, addition }));

const initWith = async ({ root, projectsDir }: Fixture, clients: readonly OtherClient[]) =>
  (await prepareInit(root, layoutFor(TOOLS, root, PROXY, false, clients), projectsDir)).apply();

/** What a person may have in such a file: comments, trailing commas, other servers and hooks, any indentation and line ends. */
const JSON_FILE = fc
  .record({
    comment: fc.constantFrom('', '// mine\n', '/* mine */ '),
    indent: fc.constantFrom('', '  ', '\t'),
    comma: fc.constantFrom('', ','),
    eol: fc.constantFrom('\n', '\r\n'),
    members: fc.subarray([
      '"mcpServers": {"other": {"command": "other"}}',
      '"servers": {"other": {"url": "https://mcp.example.com"} /* kept */}',
      '"context_servers": {}',
      '"hooks": {"PreToolUse": [{"matcher": "x", "hooks": []}], "AfterTool": []}',
      '"theme": "dark" // kept',
    ]),
  })
  .map(({ comment, indent, comma, eol, members }) => {
    // A comment to the end of a line would hide a comma behind it.
    const lines = members.map(
      (one, at) => `${indent}${at < members.length - 1 || comma !== '' ? withComma(one) : one}`,
    );
    return `${comment}{\n${lines.join('\n')}\n}\n`.replaceAll('\n', eol);
  });

function withComma(member: string): string {
  return member.includes(' //') ? member.replace(' //', ', //') : `${member},`;
}

/** Files without a value, each of which a client takes for one without settings. */
const noValue = (comments: readonly string[]) =>
  fc
    .tuple(fc.array(fc.constantFrom(...comments, '', ' '), { maxLength: 3 }), fc.constantFrom('', '\n', '\r\n'))
    .map(([lines, end]) => (lines.length === 0 ? '' : `${lines.join('\n')}${end}`));
const MARK = fc.constantFrom('', '\uFEFF');

const TOML_FILE = fc
  .record({
    parts: fc.subarray([
      'model = "o9" # mine',
      '[mcp_servers.other]\ncommand = "other"',
      '[features]\n# kept\nhooks = true',
      '[[list]]\na = """\n# contextd: end of a text\n"""',
    ]),
    end: fc.constantFrom('', '\n', '\n\n'),
    eol: fc.constantFrom('\n', '\r\n'),
  })
  .map(({ parts, end, eol }) => `${parts.join('\n')}${end}`.replaceAll('\n', eol));

describe('issue 35 part 3: what ctxd init adds to files of other clients', () => {
  it('is all there afterwards, changes nothing twice, and leaves any file as it was', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FILES), JSON_FILE, TOML_FILE, ({ addition }, json, toml) => {
        const before = addition.kind === 'json' ? json : toml;
        const { text, record } = merge(before, addition, undefined);
        if (addition.kind === 'json') {
          expect(addition.entries.every((entry) => hasEntry(text, entry))).toBe(true);
        } else {
          expect(parse(text)).toMatchObject({
            ...parse(before),
            mcp_servers: { contextd: { command: '/opt/contextd/bin/ctxd' } },
          });
        }
        expect(withdraw({ text, insertions: record.insertions })).toBe(before);
        expect(merge(text, addition, record).text).toBe(text);
        expect(unmerge(text, addition, record)).toBe(before);
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('FR-2.2: takes an empty file, one of comments and one with a byte order mark, and gives back each byte, also after an edit', () => {
    const json = fc.oneof(noValue(['// mine', '/* mine */', '/* a\nb */']), JSON_FILE);
    const toml = fc.oneof(noValue(['# mine', '# "a" = {']), TOML_FILE);
    fc.assert(
      fc.property(
        fc.constantFrom(...ALL_FILES),
        MARK,
        json,
        toml,
        fc.boolean(),
        ({ addition }, mark, ofJson, ofToml, isEdited) => {
          const before = mark + (addition.kind === 'json' ? ofJson : ofToml);
          const { text, record } = merge(before, addition, undefined);
          if (addition.kind === 'json') expect(addition.entries.every((entry) => hasEntry(text, entry))).toBe(true);
          else if (addition.table !== undefined)
            expect(parse(text.replace(/^\uFEFF/, ''))).toHaveProperty([...addition.table]);
          expect(text.startsWith(mark)).toBe(true);
          expect(merge(text, addition, record).text).toBe(text);
          // A comment of the person at the start, so that what was added is looked for and not cut at its place.
          const comment = addition.kind === 'json' ? '/* new */' : '# new\n';
          const edit = (old: string) => (isEdited ? mark + comment + old.slice(mark.length) : old);
          const rest = unmerge(edit(text), addition, record);
          // The person's own object stays as it was printed only if nobody edited the file.
          if (!isEdited || addition.kind === 'block' || before.trim() === '' || !before.includes('{'))
            expect(rest).toBe(edit(before));
        },
      ),
      { numRuns: propertyRuns() },
    );
  });

  it('FR-2.2: takes the line end back that it added to a last line, also if the file was edited meanwhile', () => {
    for (const { path, addition } of ALL_FILES.filter((one) => one.addition.kind === 'block')) {
      const { text, record } = merge('# "o9"', addition, undefined);
      expect(unmerge(`# new\n${text}`, addition, record), path).toBe('# new\n# "o9"');
      // What a person added behind the block keeps its line.
      expect(unmerge(`${text}# new\n`, addition, record), path).toBe('# "o9"\n# new\n');
    }
  });

  it('leaves a server of the same name that a person set up', () => {
    const toml = '[mcp_servers.contextd]\ncommand = "mine"\n';
    for (const { path, addition } of FILES.filter(({ path }) => path.endsWith('.toml')))
      expect(merge(toml, addition, undefined).text, path).toBe(toml);
    const json = '{"context_servers": {"contextd": {"command": "mine"}}}';
    for (const { path, addition } of FILES.filter(({ path }) => path.startsWith('.zed')))
      expect(merge(json, addition, undefined).text, path).toBe(json);
  });

  it('refuses a file in which it has no place', () => {
    const [codex] = FILES.filter(({ path }) => path.endsWith('.toml'));
    if (codex === undefined) throw new Error('no TOML file');
    for (const text of ['mcp_servers = {}\n', 'mcp_servers = 3\n', '[unfinished\n'])
      expect(() => merge(text, codex.addition, undefined), text).toThrow(/^line \d+: /);
  });

  it('makes no file that git or an editor of the person had not, once it is taken back', async () => {
    const fixture = await createFixture();
    try {
      const own = {
        '.codex/config.toml': 'model = "o9"',
        '.vscode/mcp.json': '{"servers": {},}\n',
        'README.md': '#\n',
      };
      for (const [path, text] of Object.entries(own)) {
        mkdirSync(join(fixture.root, dirname(path)), { recursive: true });
        writeFileSync(join(fixture.root, path), text);
      }
      const before = await snapshot(fixture.root);
      await initWith(fixture, OTHER_CLIENTS);
      const during = await snapshot(fixture.root);
      for (const name of OTHER_CLIENTS)
        for (const path of clientMerges(name, fixture.root, PROXY).keys())
          expect(readFileSync(join(fixture.root, path), 'utf8'), path).toContain('contextd');
      expect((await initWith(fixture, OTHER_CLIENTS)).updated).toEqual([]);
      expect(await snapshot(fixture.root)).toEqual(during);
      await fixture.uninstall();
      expect(await snapshot(fixture.root)).toEqual(before);
    } finally {
      await fixture.remove();
    }
  });

  it('goes for a client that is left out later, and for no other', async () => {
    const fixture = await createFixture();
    try {
      await initWith(fixture, ['codex', 'zed']);
      const { removed } = await initWith(fixture, ['zed']);
      expect(removed).toEqual(expect.arrayContaining(['.codex/hooks.json', '.codex/config.toml']));
      expect(existsSync(join(fixture.root, '.codex'))).toBe(false);
      expect(existsSync(join(fixture.root, '.zed/settings.json'))).toBe(true);
    } finally {
      await fixture.remove();
    }
  });
});

describe('issue 35 part 3: the clients that are used', () => {
  it('are found by what they leave in the project, in the home and on PATH', async () => {
    const fixture = await createFixture();
    try {
      const [home, programs] = [join(fixture.root, '../home'), join(fixture.root, '../bin')];
      const found = () => findOtherClients(fixture.root, { home, path: programs });
      expect(found()).toEqual([]);
      mkdirSync(join(home, '.codex'), { recursive: true });
      mkdirSync(programs);
      writeFileSync(join(programs, 'gemini'), '');
      expect(found()).toEqual(['codex', 'gemini']);
      for (const name of OTHER_CLIENTS)
        for (const one of CLIENT_PLACES[name].inProject) mkdirSync(join(fixture.root, one), { recursive: true });
      expect(found()).toEqual([...OTHER_CLIENTS]);
    } finally {
      await fixture.remove();
    }
  });

  it('are found beside a directory of PATH that cannot be looked into', async () => {
    const fixture = await createFixture();
    try {
      const [loop, programs] = [join(fixture.root, '../loop'), join(fixture.root, '../bin')];
      symlinkSync('loop', loop);
      mkdirSync(programs);
      writeFileSync(join(programs, 'gemini'), '');
      const path = [loop, programs].join(delimiter);
      expect(findOtherClients(fixture.root, { home: join(fixture.root, '../home'), path })).toEqual(['gemini']);
    } finally {
      await fixture.remove();
    }
  });

  it('are named with commas, and an unknown name is refused with the known ones', () => {
    expect(readClientNames('zed, codex')).toEqual(['zed', 'codex']);
    expect(() => readClientNames('codex,vim')).toThrow('"vim" is no client that can be set up');
  });
});
