import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_VERSION } from '#src/protocol/versions.js';
import { buildGoPrograms, GO } from '../helpers/build-go-programs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'sdk', 'go');
const MODULE = 'github.com/contextd/contextd/sdk/go';
const VERSION = `v${PACKAGE_VERSION}`;
const BUILD_MS = 300_000;

const programs = buildGoPrograms('go-plugin');
programs.remove();
const whenBuilt = it.skipIf(programs.missing !== null);

const PROGRAM = `package main

import (
	"context"

	"${MODULE}"
)

type input struct{}

func main() {
	contextd.Serve(contextd.NewTool("one", func(ctx context.Context, call *contextd.Call, _ input) (contextd.Output, error) {
		_, err := call.Host.MemorySearch(ctx, contextd.MemoryQuery{Query: "x"})
		return contextd.Output{}, err
	}))
}
`;

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'ctxd-go-module-'));
});
afterAll(() => {
  // Go makes the files of its cache read-only.
  execFileSync('chmod', ['-R', 'u+w', base]);
  rmSync(base, { recursive: true, force: true });
});

function run(program: string, args: readonly string[], cwd: string, env: object = {}): string {
  return execFileSync(program, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' });
}

/** Environment of a Go that has a module cache of its own; other modules come from the machine's cache. */
function goEnv(name: string, own: Record<string, string>): Record<string, string> {
  const cache = run('go', ['env', 'GOMODCACHE'], base).trim();
  const flags = {
    ...GO,
    GOFLAGS: '-modcacherw -buildvcs=false -mod=mod -trimpath',
    GOSUMDB: 'off',
  };
  const others = `file://${join(cache, 'cache', 'download')}`;
  const proxy = [own.GOPROXY, others].filter((one) => one !== undefined).join(',');
  return { ...flags, GOMODCACHE: join(base, `cache-${name}`), ...own, GOPROXY: proxy };
}

/** A repository with the SDK at its place, as it is published: the tag of a module in a folder begins with the folder. */
function published(): string {
  const repository = join(base, 'repository');
  mkdirSync(join(repository, 'sdk'), { recursive: true });
  cpSync(SDK, join(repository, 'sdk/go'), { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(repository, 'LICENSE'));
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  run('git', ['init', '-qb', 'main', '.'], repository);
  run('git', ['add', '.'], repository);
  run('git', [...identity, 'commit', '-qm', 'one'], repository);
  run('git', ['tag', `sdk/go/${VERSION}`], repository);
  return repository;
}

/** Makes a module of its own in which `go get` brings the SDK, builds it and returns what go.mod then requires. */
function useIn(name: string, env: Record<string, string>): string {
  const dir = join(base, name);
  mkdirSync(dir);
  writeFileSync(join(dir, 'main.go'), PROGRAM);
  run('go', ['mod', 'init', 'example.com/one'], dir, env);
  run('go', ['get', `${MODULE}@${VERSION}`], dir, env);
  run('go', ['build', '-o', 'one', '.'], dir, env);
  expect(readdirSync(dir)).toContain('one');
  return readFileSync(join(dir, 'go.mod'), 'utf8');
}

describe('NFR-4.3 the Go module of the SDK', () => {
  it('NFR-4.3 has a path with its place in the repository, and the version of the project', () => {
    expect(readFileSync(join(SDK, 'go.mod'), 'utf8')).toContain(`module ${MODULE}\n`);
    const template = readFileSync(join(ROOT, 'sdk/templates/go/go.mod'), 'utf8');
    expect(template).toContain(`require ${MODULE} ${VERSION}\n`);
    expect(template).toContain(`replace ${MODULE} => ./contextd\n`);
  });

  whenBuilt(
    'NFR-4.3 is fetched by go get from a git server',
    () => {
      const repository = published();
      const git = {
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: `url.file://${repository}.insteadOf`,
        GIT_CONFIG_VALUE_0: 'https://github.com/contextd/contextd',
        GIT_ALLOW_PROTOCOL: 'file:https',
      };
      expect(useIn('by-git', goEnv('git', { ...git, GOPRIVATE: 'github.com/contextd' }))).toContain(
        `${MODULE} ${VERSION}`,
      );
    },
    BUILD_MS,
  );

  whenBuilt(
    'NFR-4.3 is fetched by go get from a module proxy',
    () => {
      const place = join(base, 'proxy', MODULE, '@v');
      const zipped = join(base, 'zip', `${MODULE}@${VERSION}`);
      mkdirSync(place, { recursive: true });
      cpSync(SDK, zipped, { recursive: true });
      run('python3', ['-c', ZIP, join(base, 'zip'), join(place, `${VERSION}.zip`)], base);
      writeFileSync(join(place, 'list'), `${VERSION}\n`);
      writeFileSync(join(place, `${VERSION}.info`), JSON.stringify({ Version: VERSION, Time: '2026-01-01T00:00:00Z' }));
      cpSync(join(SDK, 'go.mod'), join(place, `${VERSION}.mod`));
      const env = goEnv('proxy', { GOPROXY: `file://${join(base, 'proxy')}` });
      expect(useIn('by-proxy', env)).toContain(`${MODULE} ${VERSION}`);
    },
    BUILD_MS,
  );
});

/** Packs a folder as a module proxy serves it. */
const ZIP = `import os, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w") as z:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(folder, name)
            z.write(path, os.path.relpath(path, sys.argv[1]))
`;
