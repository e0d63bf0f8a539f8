import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/**
 * Imports run the way a call runs. A row is a room, what it may import of ours, and why; `*` is everything.
 * Rooms of a later step of the call never import an earlier one.
 */
const TABLE: Record<string, { mayImport: readonly string[]; why: string }> = {
  'src/core': { mayImport: [], why: 'everything stands on it, so it stands on nothing' },
  'src/call': {
    mayImport: ['src/core', 'src/protocol'],
    why: 'what every step and door shares: contracts without implementations; management speaks in the generated messages, which are plain data',
  },
  'src/text': { mayImport: ['src/core'], why: 'pure: terminal sequences, encodings, offset maps, line indexes' },
  'src/config': { mayImport: ['src/core'], why: 'settings and paths are known before any part is built' },
  'src/protocol': { mayImport: ['src/core'], why: 'wire types are shared by both ends' },
  'src/proxy': {
    mayImport: ['src/core', 'src/protocol', 'src/text', 'src/tokens'],
    why: 'the compiled client must start in milliseconds: no daemon code, no dependency',
  },
  'src/tokens': { mayImport: ['src/core', 'src/text'], why: 'pure and synchronous' },
  'src/scrub': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/text'],
    why: 'runs in the daemon, in its worker and in a tool process',
  },
  'src/stores': { mayImport: ['src/core', 'src/call', 'src/config'], why: 'keeps what it is given' },
  'src/sandbox': {
    mayImport: ['src/core', 'src/config', 'src/egress', 'src/protocol', 'src/text'],
    why: 'confines; knows no tool and no call; of the proxy process its messages and groups of names',
  },
  'src/egress': {
    mayImport: ['src/core'],
    why: 'the process that parses hostile bytes holds no other code; its rules and groups are pure',
  },
  'src/sdk': {
    mayImport: ['src/core', 'src/protocol', 'src/text'],
    why: 'what a tool author gets must not drag the daemon in',
  },
  'src/runner': {
    mayImport: [
      'src/core',
      'src/call',
      'src/config',
      'src/protocol',
      'src/sandbox',
      'src/sdk',
      'src/scrub',
      'src/text',
      'tools',
    ],
    why: 'owns tool processes; its bundle entry joins the core tools with the first scrub pass',
  },
  'src/jobs': {
    mayImport: [
      ...['src/core', 'src/call', 'src/config', 'src/runner', 'src/sandbox', 'src/scrub', 'src/sdk', 'src/stores'],
      'src/text',
    ],
    why: 'commands that outlive their call: started and used through ToolHost, so no step of a call knows them',
  },
  'src/memory': {
    mayImport: ['src/core', 'src/call', 'src/runner', 'src/sdk', 'src/stores'],
    why: 'what is kept between sessions: reached through ToolHost and the management contract, which mask what it gets',
  },
  'src/session': {
    mayImport: [
      ...['src/core', 'src/call', 'src/config', 'src/runner', 'src/sandbox', 'src/sdk', 'src/stores', 'src/text'],
      'src/tokens',
    ],
    why: 'what happens in a session and what is made of it: fed by dispatch, reached through ToolHost and the management contract',
  },
  'src/catalog': { mayImport: ['src/core', 'src/call', 'src/config', 'src/protocol'], why: 'knows tools, runs none' },
  'src/install': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/catalog'],
    why: 'brings tools of others here and checks them; runs none, and knows no project',
  },
  'src/dispatch': {
    mayImport: [
      'src/core',
      'src/call',
      'src/config',
      'src/catalog',
      'src/protocol',
      'src/runner',
      'src/sandbox',
      'src/scrub',
      'src/sdk',
      'src/session',
      'src/stores',
      'src/text',
      'src/tokens',
    ],
    why: 'the nine steps',
  },
  'src/server': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/protocol'],
    why: 'doors know the shape of a call, not its life',
  },
  'src/daemon': { mayImport: ['*'], why: 'compose alone builds everything' },
  'src/forward': { mayImport: [], why: 'runs alone in a sandbox, from its own folder' },
  'src/cli': {
    mayImport: [
      'src/forward',
      'src/core',
      'src/call',
      'src/config',
      'src/egress',
      'src/protocol',
      'src/scrub',
      'src/catalog',
      'src/install',
      'src/text',
      'src/tokens',
    ],
    why: 'reaches the daemon over the socket only; `ctxd scrub` is the engine itself, `ctxd tool verify` rules and counter themselves: they need none',
  },
  tools: { mayImport: ['src/sdk'], why: 'a core tool has no more than any tool author' },
  scripts: { mayImport: ['*'], why: 'build steps' },
  bench: { mayImport: ['*'], why: 'measures every room' },
};

/** Files held to more than their room's row. */
const NARROWER = [
  {
    from: 'src/cli',
    into: 'src/egress',
    only: ['src/egress/addresses.ts', 'src/egress/groups.ts', 'src/egress/names.ts'],
    why: 'pure: a person is shown which addresses are not public, which hosts are in no group, and only names of hosts',
  },
  {
    from: 'src/cli',
    into: 'src/install',
    only: ['src/install/lock-file.ts', 'src/install/source-forms.ts'],
    why: 'the lock file is in the project, which the daemon does not write, and the forms are texts; everything else of an installation is the daemon’s',
  },
  {
    from: 'src/proxy',
    into: 'src/tokens',
    only: ['src/tokens/counter.ts'],
    why: 'an answer that no daemon made has a true tokens_used too',
  },
  {
    from: 'src/runner',
    into: 'src/scrub',
    only: [
      'src/scrub/hardened/engine.ts',
      'src/scrub/finding.ts',
      'src/scrub/exact/rule-pack.ts',
      'src/scrub/leaves.ts',
    ],
    why: 'the first pass is patterns only: vault and guard never leave the daemon',
  },
];

/** The only readers of process.env (style 17). */
const ENVIRONMENT_READERS = [
  'src/config/env.ts',
  'src/proxy/environment.ts',
  'src/sdk/serve.ts',
  'src/runner/exec-tool/main.ts',
];

const root = join(import.meta.dirname, '..');

function sourceFiles(room: string): string[] {
  const dir = join(root, room);
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((entry) => join(room, entry))
    .filter((path) => path.endsWith('.ts') && !path.includes('/generated/') && statSync(join(root, path)).isFile());
}

/** Every import: static, type-only, re-export, side-effect, `import()` type or dynamic. */
function importsOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      found.push((node.moduleSpecifier as ts.StringLiteral).text);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument && ts.isStringLiteralLike(argument)) found.push(argument.text);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
      found.push(node.argument.literal.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  parsed.set(path, found);
  return found;
}

/** The imports by file: several tests ask for the same file. */
const parsed = new Map<string, readonly string[]>();

function roomOf(path: string): string {
  return path.startsWith('src/') ? path.split('/').slice(0, 2).join('/') : (path.split('/')[0] ?? '');
}

function ownImports(path: string): string[] {
  return importsOf(path)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(root, join(root, dirname(path), specifier)));
}

/**
 * A shortest circle through each file that is on one, as `a → b → a`, each circle once: found by walking from every file
 * to itself along the imports.
 */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = new Map<string, string>();
  for (const start of imports.keys()) {
    const circle = shortestWayBack(start, imports);
    if (circle !== null) circles.set([...circle].sort().join(' '), [...circle, start].join(' → '));
  }
  return [...circles.values()].sort();
}

function shortestWayBack(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) return wayTo(file, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(file: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let at = file; at !== start; at = cameFrom.get(at) ?? start) way.unshift(at);
  return [start, ...way];
}

describe('imports run the way a call runs', () => {
  for (const [room, row] of Object.entries(TABLE)) {
    it(`${room} imports only its row: ${row.why}`, () => {
      expect(existsSync(join(root, room)), `${room} is gone: take its row away`).toBe(true);
      const files = sourceFiles(room);
      expect(files.length, `${room} holds no source`).toBeGreaterThan(0);
      const strangers = files.flatMap((file) =>
        ownImports(file)
          .filter(
            (target) =>
              roomOf(target) !== room && !row.mayImport.includes('*') && !row.mayImport.includes(roomOf(target)),
          )
          .map((target) => `${file} → ${target}`),
      );
      expect(strangers).toEqual([]);
    });
  }

  it('no room holds an import circle, type-only imports included', () => {
    const files = ['src', 'tools', 'scripts'].flatMap(sourceFiles);
    expect(circlesOf(new Map(files.map((file) => [file, ownImports(file)])))).toEqual([]);
  });

  it('names a circle by the files on it, once', () => {
    const imports = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', []],
      ['e', ['e', 'd']],
    ]);
    expect(circlesOf(imports)).toEqual(['c → a → b → c', 'e → e']);
  });

  it('every room of src has a row', () => {
    const rooms = readdirSync(join(root, 'src')).map((name) => `src/${name}`);
    expect(rooms.filter((room) => !(room in TABLE))).toEqual([]);
  });

  for (const rule of NARROWER) {
    it(`${rule.from} takes of ${rule.into} only ${rule.only.join(', ')}: ${rule.why}`, () => {
      for (const only of rule.only) expect(existsSync(join(root, only)), `${only} is gone`).toBe(true);
      const strangers = sourceFiles(rule.from).flatMap((file) =>
        ownImports(file)
          .filter((target) => roomOf(target) === rule.into && !rule.only.includes(target))
          .map((target) => `${file} → ${target}`),
      );
      expect(strangers).toEqual([]);
    });
  }

  it('the contracts of a call depend on no transport', () => {
    const reached = new Set(sourceFiles('src/call'));
    for (const file of reached) for (const target of ownImports(file)) reached.add(target);
    const transports = [...reached]
      .flatMap((file) => importsOf(file).map((specifier) => `${file} → ${specifier}`))
      .filter((arrow) => arrow.endsWith('@grpc/grpc-js') || /node:(http|net|tls)/.test(arrow));
    expect(reached.size).toBeGreaterThan(1);
    expect(transports).toEqual([]);
  });

  it('the compiled client has no dependency', () => {
    const packages = sourceFiles('src/proxy')
      .flatMap(importsOf)
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'));
    expect(packages).toEqual([]);
  });

  it('one file of each program reads process.env', () => {
    const readers = Object.keys(TABLE)
      .filter((room) => room.startsWith('src/'))
      .flatMap(sourceFiles)
      .filter((file) => /process\.env\b|process\[/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers.sort()).toEqual([...ENVIRONMENT_READERS].sort());
  });
});
