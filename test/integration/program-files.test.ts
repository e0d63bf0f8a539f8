import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'dist/program');
const launcher = readFileSync(join(ROOT, 'bin/contextd'), 'utf8');

describe('the files that the daemon runs from', () => {
  it('NFR-1.4: include every program of the daemon, its threads and its spawner, each with a source map', () => {
    const files = readdirSync(PROGRAM);
    expect(files).toEqual(
      expect.arrayContaining([
        'contextd.js',
        'guard-worker.js',
        'judge-thread.js',
        'local-thread.js',
        'memory-thread.js',
        'scan-worker.js',
        'merge.js',
        'snapshots.js',
        'spawner.js',
        'sqlite-worker.js',
        'terminal-thread.js',
        'view-thread.js',
      ]),
    );
    const scripts = files.filter((file) => file.endsWith('.js'));
    expect(files.filter((file) => file.endsWith('.js.map')).sort()).toEqual(
      scripts.map((file) => `${file}.map`).sort(),
    );
  });

  it("NFR-1.4: read of Node's modules only what they use", () => {
    const scripts = readdirSync(PROGRAM).filter((file) => file.endsWith('.js'));
    // esbuild writes double quotes; the programs that ctxd writes for clients are text in single ones.
    const importing = scripts.filter((file) => / from "node:/.test(readFileSync(join(PROGRAM, file), 'utf8')));
    expect(importing).toEqual([]);
  });

  it('NFR-1.4: load the parser of commands in its thread only', () => {
    const withParser = readdirSync(PROGRAM)
      .filter((file) => file.endsWith('.js'))
      .filter((file) => readFileSync(join(PROGRAM, file), 'utf8').includes('// node_modules/unbash/'));
    expect(withParser).toEqual(['judge-thread.js']);
  });

  it('NFR-1.4: load the MCP client when a server starts, not when the daemon does', () => {
    const textOf = (file: string): string => readFileSync(join(PROGRAM, file), 'utf8');
    const start = readdirSync(PROGRAM).filter(
      (file) => file.endsWith('.js') && textOf(file).includes('// dist/src/daemon/compose.js'),
    );
    expect(start).toHaveLength(1);
    const loaded = new Set(start);
    for (const file of loaded)
      for (const [, name = ''] of textOf(file).matchAll(/(?:from|import) "\.\/([^"]+)";/g)) loaded.add(name);
    expect(loaded.size).toBeGreaterThan(10);
    expect([...loaded].filter((file) => textOf(file).includes('// node_modules/@modelcontextprotocol/'))).toEqual([]);
  });

  it('NFR-1.4: load OpenTelemetry on demand only', () => {
    const scripts = readdirSync(PROGRAM).filter((file) => file.endsWith('.js'));
    const textOf = (file: string): string => readFileSync(join(PROGRAM, file), 'utf8');
    const [user = '', ...more] = scripts.filter((file) => textOf(file).includes('@opentelemetry/'));
    expect(more).toEqual([]);
    const importers = scripts.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => line.includes(`"./${user}"`)),
    );
    expect(importers.length).toBe(1);
    expect(importers[0]).toContain(`await import("./${user}")`);
  });

  it('NFR-1.4: start threads and spawner from bundled files, and find the data where the compiler left it', () => {
    const text = readdirSync(PROGRAM)
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(PROGRAM, file), 'utf8'))
      .join('\n');
    const named = [...text.matchAll(/new URL\("([^"]+)", import\.meta\.url\)/g)].map(([, path]) => path);
    expect(new Set(named)).toEqual(
      new Set([
        './guard-worker.js',
        './judge-thread.js',
        './local-thread.js',
        './memory-thread.js',
        './scan-worker.js',
        'merge.js',
        'snapshots.js',
        './spawner.js',
        './sqlite-worker.js',
        './terminal-thread.js',
        './view-thread.js',
        '../src/config/install-root.js',
        '../src/core/own-program.js',
        '../src/forward',
        '../src/relay',
        './',
        './fetch.js',
        '../src/install/sigstore-trusted-root.json',
        '../src/scrub/gitleaks/gitleaks.toml',
        '../src/sandbox/egress/inside/main.js',
        '../src/sandbox/storage/inside/main.js',
        '../src/scrub/exact/certified-patterns.txt',
        '../src/scrub/rules',
        '../src/tokens/cl100k_base.ranks',
      ]),
    );
  });

  it('NFR-1.4: are run by the launcher, with a collectable heap and a bounded young generation', () => {
    expect(launcher).toContain('main=$root/dist/program/contextd.js');
    expect(launcher).toMatch(/exec "\$node" .*--expose-gc --max-semi-space-size=8 "\$main" "\$@"/);
    expect(launcher).toContain('MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072');
  });

  it('NFR-1.4: print the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(execFileSync(join(ROOT, 'bin/contextd'), ['--version'], { encoding: 'utf8' }).trim()).toBe(version);
  });
});
