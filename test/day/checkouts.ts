import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Real projects, made from what package registries serve. Each is downloaded once, with its dependencies vendored, and
 * kept in a cache directory; the tasks work on copies and need no network.
 */
export const CHECKOUTS = {
  express: { needs: ['node', 'npm'], make: makeExpress },
  qs: { needs: ['node', 'npm'], make: makeQs },
  requests: { needs: ['python3'], make: makeRequests },
  flask: { needs: ['python3'], make: makeFlask },
  mux: { needs: ['go'], make: makeMux },
  ripgrep: { needs: ['cargo'], make: makeRipgrep },
  zlib: { needs: ['cargo', 'cc', 'make', 'cmake'], make: makeZlib },
  gson: { needs: ['java', 'mvn'], make: makeGson },
  monorepo: { needs: ['node'], make: makeMonorepo },
  empty: { needs: ['git'], make: makeEmpty },
} as const satisfies Record<string, Checkout>;

export type CheckoutName = keyof typeof CHECKOUTS;

interface Checkout {
  /** Programs without which the checkout is not made. */
  readonly needs: readonly string[];
  /** Fills the directory. It becomes a git repository with one commit afterwards. */
  make(directory: string): void;
}

/** A new number makes every checkout again. */
const VERSION = 1;

/** Returns why the checkout cannot be made, or its directory in the cache. */
export function prepareCheckout(name: CheckoutName): { directory: string } | { missing: string } {
  const { needs, make } = CHECKOUTS[name];
  const missing = needs.filter((program) => !isOnPath(program));
  if (missing.length > 0) return { missing: `not installed: ${missing.join(', ')}` };
  const directory = join(cacheDirectory(), `${name}-${VERSION}`);
  if (existsSync(directory)) return { directory };
  const draft = `${directory}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    make(draft);
    commitAll(draft);
  } catch (cause) {
    return { missing: `cannot be made: ${cause instanceof Error ? cause.message : cause}` };
  }
  renameSync(draft, directory);
  return { directory };
}

function cacheDirectory(): string {
  return (
    process.env.CONTEXTD_DAY_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'contextd-day')
  );
}

export function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, program)));
}

function run(directory: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 1024 * 1024 * 64 });
}

function write(directory: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

function commitAll(directory: string): void {
  const identity = ['-c', 'user.name=Ann Example', '-c', 'user.email=ann@example.com', '-c', 'commit.gpgsign=false'];
  run(directory, 'git', 'init', '-q', '-b', 'main');
  run(directory, 'git', 'add', '-A');
  run(directory, 'git', ...identity, 'commit', '-q', '-m', 'The released state');
}

/** Unpacks a package of the npm registry into the directory. */
function unpackNpm(directory: string, spec: string): void {
  run(directory, 'npm', 'pack', '--silent', '--pack-destination', directory, spec);
  unpackOnlyArchive(directory);
}

/** Unpacks a source distribution of the Python package index into the directory. */
function unpackPython(directory: string, spec: string): void {
  run(directory, 'python3', '-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:', '-d', directory, spec);
  unpackOnlyArchive(directory);
}

function unpackOnlyArchive(directory: string): void {
  const archive = readdirSync(directory).find((name) => /\.(tgz|tar\.gz)$/.test(name));
  if (archive === undefined) throw new Error(`no archive in ${directory}`);
  run(directory, 'tar', '-xzf', archive, '--strip-components=1', '--no-same-owner');
  rmSync(join(directory, archive));
}

function makeExpress(directory: string): void {
  unpackNpm(directory, 'express@4.21.2');
  run(directory, 'npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=dev');
  write(directory, {
    '.gitignore': 'node_modules/\n',
    'server.js': `const express = require('./index.js');
const app = express();
app.get('/', (request, response) => response.send('it works'));
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'));
`,
  });
}

function makeQs(directory: string): void {
  unpackNpm(directory, 'qs@6.14.0');
  const development = ['tape@5', 'es-value-fixtures@1', 'for-each@0.3', 'has-bigints@1', 'has-override-mistake@1'];
  const more = ['has-property-descriptors@1', 'has-proto@1', 'iconv-lite@0.5', 'mock-property@1', 'object-inspect@1'];
  run(directory, 'npm', 'pkg', 'delete', 'devDependencies', 'scripts');
  run(directory, 'npm', 'pkg', 'set', "scripts.test=tape 'test/**/*.js'");
  const options = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--save-dev'];
  run(
    directory,
    'npm',
    'install',
    ...options,
    ...development,
    ...more,
    'qs-iconv@1',
    'safer-buffer@2',
    'typescript@5.9',
  );
  write(directory, { '.gitignore': 'node_modules/\n' });
}

/** A virtual environment is made outside, as a person makes it. */
function makeEnvironment(directory: string, ...packages: readonly string[]): void {
  run(directory, 'python3', '-m', 'venv', '.venv');
  run(directory, '.venv/bin/python', '-m', 'pip', 'install', '-q', ...packages);
  write(directory, { '.gitignore': '.venv/\n__pycache__/\n.pytest_cache/\n' });
}

function makeRequests(directory: string): void {
  unpackPython(directory, 'requests==2.32.3');
  makeEnvironment(directory, 'pytest<9', 'urllib3', 'certifi', 'idna', 'charset-normalizer', 'PySocks', 'setuptools');
}

function makeFlask(directory: string): void {
  unpackPython(directory, 'flask==3.0.3');
  makeEnvironment(directory, 'pytest<9', 'werkzeug<3.1', 'jinja2', 'itsdangerous', 'click<8.2', 'blinker');
}

function makeMux(directory: string): void {
  const modules = `${directory}.gopath`;
  run(
    directory,
    'env',
    `GOPATH=${modules}`,
    'GOFLAGS=-modcacherw',
    'go',
    'mod',
    'download',
    'github.com/gorilla/mux@v1.8.1',
  );
  run(directory, 'cp', '-r', `${modules}/pkg/mod/github.com/gorilla/mux@v1.8.1/.`, directory);
  rmSync(modules, { recursive: true, force: true });
}

function makeRipgrep(directory: string): void {
  unpackCrate(directory, 'ripgrep', '14.1.1');
  write(directory, { '.cargo/config.toml': vendorConfig(directory), '.gitignore': 'target/\nvendor/\n' });
}

/** zlib's own sources, with its own configure script left out by the crate: a Makefile and CMakeLists.txt of ours. */
function makeZlib(directory: string): void {
  unpackCrate(directory, 'libz-sys', '1.1.23', 'src/zlib');
  write(directory, {
    Makefile: `CFLAGS = -O2 -DHAVE_UNISTD_H
objects = $(patsubst %.c,%.o,$(wildcard *.c))
libz.a: $(objects)
\tar rcs $@ $(objects)
check/roundtrip: check/roundtrip.c libz.a
\t$(CC) $(CFLAGS) -I. -o $@ check/roundtrip.c libz.a
test: check/roundtrip
\t./check/roundtrip
.PHONY: test
`,
    'CMakeLists.txt': `cmake_minimum_required(VERSION 3.16)
project(z C)
file(GLOB sources *.c)
add_library(z STATIC \${sources})
target_compile_definitions(z PRIVATE HAVE_UNISTD_H)
target_include_directories(z PUBLIC \${CMAKE_SOURCE_DIR})
add_executable(roundtrip check/roundtrip.c)
target_link_libraries(roundtrip z)
enable_testing()
add_test(NAME roundtrip COMMAND roundtrip)
`,
    'check/roundtrip.c': `#include <stdio.h>
#include <string.h>
#include "zlib.h"
int main(void) {
  const char text[] = "what goes in comes out";
  Bytef packed[200], back[200];
  uLongf packedSize = sizeof packed, backSize = sizeof back;
  if (compress(packed, &packedSize, (const Bytef *)text, sizeof text) != Z_OK) return 1;
  if (uncompress(back, &backSize, packed, packedSize) != Z_OK) return 2;
  if (strcmp((const char *)back, text) != 0) return 3;
  puts("roundtrip ok");
  return 0;
}
`,
    '.gitignore': '*.o\nlibz.a\nbuild/\ncheck/roundtrip\n',
  });
}

/** Unpacks a crate of the Rust registry, or a folder of it, through `cargo vendor`. */
function unpackCrate(directory: string, name: string, version: string, folder = ''): void {
  const work = `${directory}.crate`;
  mkdirSync(join(work, 'src'), { recursive: true });
  write(work, {
    'Cargo.toml': `[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n`,
    'src/lib.rs': '',
  });
  try {
    run(work, 'cargo', 'add', '--quiet', `${name}@=${version}`);
    run(work, 'cargo', 'vendor', '--quiet', 'vendor');
    run(work, 'cp', '-r', `${join(work, 'vendor', name, folder)}/.`, directory);
    rmSync(join(directory, '.cargo-checksum.json'), { force: true });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function vendorConfig(directory: string): string {
  run(directory, 'cargo', 'vendor', '--quiet', 'vendor');
  return '[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n';
}

/** gson's sources with a pom of ours; the local repository of Maven lies in the project, filled beforehand. */
function makeGson(directory: string): void {
  write(directory, {
    'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId><artifactId>gson-day</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>2.11.0</version></dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>
  </dependencies>
</project>
`,
    '.mvn/maven.config': '-Dmaven.repo.local=.m2/repository\n--batch-mode\n',
    'src/main/java/com/example/Shop.java': `package com.example;
import com.google.gson.Gson;
public final class Shop {
  public final String name;
  public Shop(String name) { this.name = name; }
  public String toJson() { return new Gson().toJson(this); }
  public static void main(String[] args) { System.out.println(new Shop("corner").toJson()); }
}
`,
    'src/test/java/com/example/ShopTest.java': `package com.example;
import static org.junit.Assert.assertEquals;
import org.junit.Test;
public class ShopTest {
  @Test public void printsItsName() { assertEquals("{\\"name\\":\\"corner\\"}", new Shop("corner").toJson()); }
}
`,
    '.gitignore': 'target/\n.m2/\n',
  });
  run(directory, 'mvn', '-q', 'test');
  rmSync(join(directory, 'target'), { recursive: true, force: true });
}

/** A project in which nothing has been written yet. */
function makeEmpty(directory: string): void {
  write(directory, { 'README.md': '# A new project\n' });
}

/** A monorepo of 102,000 small files in 1,020 packages. */
function makeMonorepo(directory: string): void {
  for (let at = 0; at < 1020; at++) {
    const folder = join(directory, 'packages', `p${at}`);
    mkdirSync(join(folder, 'src'), { recursive: true });
    writeFileSync(
      join(folder, 'package.json'),
      `{"name":"p${at}","version":"1.0.0","scripts":{"test":"node --test"}}\n`,
    );
    writeFileSync(
      join(folder, 'p.test.js'),
      `require('node:test')('adds', () => require('node:assert').equal(require('./src/m0.js')(1), 1));\n`,
    );
    for (let file = 0; file < 98; file++)
      writeFileSync(join(folder, 'src', `m${file}.js`), `module.exports = (x) => x + ${file};\n`);
  }
}
