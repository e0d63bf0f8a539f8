import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import protobuf from 'protobufjs';
import { LOAD_OPTIONS, PLUGIN_PROTO_FILES, PROTO_FILES } from '../src/protocol/load-clients.ts';
import { mergeTypes } from './merge-types.ts';

// Generates src/protocol/generated from proto/ and package.json. With --check it only reports whether it is current.

const PACKAGE_JSON = 'package.json';
const ALL_FILES = [...PROTO_FILES, ...PLUGIN_PROTO_FILES];

function main(): void {
  const root = findRoot(import.meta.dirname);
  const target = join(root, 'src', 'protocol', 'generated');
  if (process.argv.includes('--check')) check(root, target);
  else generate(root, target);
}

function check(root: string, target: string): void {
  const fresh = mkdtempSync(join(tmpdir(), 'contextd-protocol-'));
  try {
    generate(root, fresh);
    report(compare(fresh, target));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** The script runs from scripts/ and, built, from dist/scripts/. */
function findRoot(start: string): string {
  const parent = resolve(start, '..');
  return existsSync(join(parent, PACKAGE_JSON)) || parent === start ? parent : findRoot(parent);
}

function generate(root: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const proto = join(root, 'proto');
  for (const [file, text] of mergeTypes(generatedTypes(root, proto))) writeFileSync(join(target, file), text);
  writeFileSync(join(target, 'package-version.ts'), versionModule(root));
  writeFileSync(join(target, 'daemon-definition.ts'), definitionModule(proto, 'DAEMON_DEFINITION', PROTO_FILES));
  writeFileSync(join(target, 'plugin-definition.ts'), definitionModule(proto, 'PLUGIN_DEFINITION', PLUGIN_PROTO_FILES));
}

/** The files of proto-loader's generator, one a message, by path. */
function generatedTypes(root: string, proto: string): Map<string, string> {
  const target = mkdtempSync(join(tmpdir(), 'contextd-types-'));
  const loader = createRequire(import.meta.url).resolve('@grpc/proto-loader/package.json');
  const generator = join(loader, '..', 'build', 'bin', 'proto-loader-gen-types.js');
  const flags = ['--grpcLib=@grpc/grpc-js', '--importFileExtension=.ts', '--includeComments', `--outDir=${target}`];
  try {
    execFileSync(process.execPath, [generator, ...loadFlags(), ...flags, '-I', proto, '--', ...ALL_FILES], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Map(filesBelow(target).map((file) => [file, tidied(join(target, file), root)]));
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

function loadFlags(): string[] {
  const { keepCase, longs, defaults, oneofs } = LOAD_OPTIONS;
  return [`--keepCase=${keepCase}`, `--longs=${longs.name}`, `--defaults=${defaults}`, ...(oneofs ? ['--oneofs'] : [])];
}

/** Services as JSON text: a tool's process has no `proto` directory, and the daemon starts faster without parsing one. */
function definitionModule(proto: string, name: string, files: readonly string[]): string {
  const definition = new protobuf.Root();
  const ownPath = definition.resolvePath;
  definition.resolvePath = (origin, target) =>
    ALL_FILES.some((file) => file === target) ? join(proto, target) : ownPath.call(definition, origin, target);
  definition.loadSync([...files], { keepCase: LOAD_OPTIONS.keepCase });
  const json = JSON.stringify(definition.toJSON({ keepComments: false }), null, 2);
  return [
    `// Original files: ${files.map((file) => `proto/${file}`).join(', ')}`,
    '',
    `export const ${name} = \`${json}\`;`,
    '',
  ].join('\n');
}

/** The generator writes absolute paths and trailing blanks. */
function tidied(file: string, root: string): string {
  return readFileSync(file, 'utf8')
    .replaceAll(`${root}/`, '')
    .replace(/[ \t]+$/gm, '');
}

function versionModule(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, PACKAGE_JSON), 'utf8'));
  return `// Original file: ${PACKAGE_JSON}\n\nexport const PACKAGE_VERSION = '${version}';\n`;
}

function compare(fresh: string, target: string): string[] {
  const names = new Set([...filesBelow(fresh), ...filesBelow(target)]);
  return [...names].filter((name) => textOf(join(fresh, name)) !== textOf(join(target, name))).sort();
}

function report(stale: readonly string[]): void {
  if (stale.length === 0) return;
  console.error(`src/protocol/generated is not current: ${stale.join(', ')}. Run \`npm run generate\`.`);
  process.exitCode = 1;
}

function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

main();
