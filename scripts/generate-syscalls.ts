import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

// Generates src/sandbox/machine/seccomp/syscalls-{x64,arm64}.ts from the kernel's headers (Debian: linux-libc-dev), read by the
// C preprocessor. With --check it only reports whether the headers of this machine agree with the committed tables. Older
// headers know fewer calls and still agree. --x64 DIR and --arm64 DIR (repeatable) put other include directories first.

interface Source {
  readonly arch: 'x64' | 'arm64';
  readonly constant: string;
  readonly title: string;
  /** C text that includes the header with the numbers. */
  readonly text: string;
}

interface Table {
  readonly kernel: string;
  readonly numbers: ReadonlyMap<string, number>;
}

const X64: Source = {
  arch: 'x64',
  constant: 'SYSCALLS_X64',
  title: 'x86-64',
  text: '#include <asm/unistd_64.h>\n#include <linux/version.h>\n',
};

// With the choices that arm64's own header makes, the generic header has the calls of arm64.
const ARM64: Source = {
  arch: 'arm64',
  constant: 'SYSCALLS_ARM64',
  title: 'arm64',
  text: [
    ...['RENAMEAT', 'NEW_STAT', 'SET_GET_RLIMIT', 'SYS_CLONE3', 'MEMFD_SECRET'].map(
      (choice) => `#define __ARCH_WANT_${choice}`,
    ),
    '#include <asm-generic/unistd.h>',
    '#include <linux/version.h>',
    '',
  ].join('\n'),
};

/** Macros that are not calls: the number of calls, and the start of a range reserved for architectures. */
const MARKERS = ['syscalls', 'arch_specific_syscall'];

function main(): void {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      x64: { type: 'string', multiple: true, default: [] },
      arm64: { type: 'string', multiple: true, default: [] },
    },
  });
  for (const source of [X64, ARM64]) {
    const table = readHeaders(source, values[source.arch]);
    const target = join(findRoot(import.meta.dirname), `src/sandbox/machine/seccomp/syscalls-${source.arch}.ts`);
    const faults = compare(committedNumbers(target), table.numbers, values.check);
    if (faults.length > 0) fail(source, table, faults);
    else if (!values.check) writeFileSync(target, render(source, table));
  }
}

function readHeaders(source: Source, includeDirs: readonly string[]): Table {
  const flags = ['-E', '-dM', ...includeDirs.map((dir) => `-I${dir}`), '-'];
  const output = execFileSync('gcc', flags, { input: source.text, encoding: 'utf8' });
  const macros = new Map<string, string>();
  for (const [, name, value] of output.matchAll(/^#define (\w+) (\S+)$/gm)) macros.set(name ?? '', value ?? '');
  const numbers = new Map<string, number>();
  for (const macro of macros.keys()) {
    const name = /^__NR_(\w+)$/.exec(macro)?.[1];
    if (name !== undefined && !MARKERS.includes(name)) numbers.set(name, resolveNumber(macros, macro));
  }
  return { kernel: kernelVersion(Number(macros.get('LINUX_VERSION_CODE'))), numbers };
}

/** A macro may refer to another macro, as `__NR_fcntl` to `__NR3264_fcntl`. */
function resolveNumber(macros: ReadonlyMap<string, string>, macro: string): number {
  const value = macros.get(macro);
  if (value === undefined) throw new Error(`${macro} leads to no number`);
  return /^\d+$/.test(value) ? Number(value) : resolveNumber(macros, value);
}

function kernelVersion(code: number): string {
  return `${code >> 16}.${(code >> 8) & 255}`;
}

function committedNumbers(file: string): Map<string, number> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return new Map([...text.matchAll(/^ {2}(\w+): (\d+),$/gm)].map(([, name, nr]) => [name ?? '', Number(nr)]));
}

/** A number never changes and is never removed. A call missing from the table makes only --check fail. */
function compare(
  committed: ReadonlyMap<string, number>,
  fresh: ReadonlyMap<string, number>,
  checking: boolean,
): string[] {
  const changed = [...fresh].filter(([name, nr]) => committed.has(name) && committed.get(name) !== nr);
  const added = [...fresh.keys()].filter((name) => !committed.has(name));
  const gone = [...committed.keys()].filter((name) => !fresh.has(name));
  return [
    ...changed.map(([name, nr]) => `${name} is ${nr} in the headers and ${committed.get(name)} in the table`),
    ...(checking ? added.map((name) => `${name} is missing from the table`) : []),
    ...(checking ? [] : gone.map((name) => `${name} is missing from the headers, which are older than the table`)),
  ];
}

function fail(source: Source, table: Table, faults: readonly string[]): void {
  console.error(`The ${source.title} table and the headers of Linux ${table.kernel} disagree:\n${faults.join('\n')}`);
  process.exitCode = 1;
}

function render(source: Source, table: Table): string {
  const sorted = [...table.numbers].sort(([, a], [, b]) => a - b);
  const lines = sorted.map(([name, nr]) => `  ${name}: ${nr},\n`).join('');
  return (
    `// Generated by scripts/generate-syscalls.ts from the headers of Linux ${table.kernel}.\n\n` +
    `/** System calls of ${source.title}: name and number. */\n` +
    `export const ${source.constant}: Readonly<Record<string, number>> = {\n${lines}};\n`
  );
}

/** The script runs from scripts/ and, built, from dist/scripts/. */
function findRoot(start: string): string {
  const parent = resolve(start, '..');
  return existsSync(join(parent, 'package.json')) || parent === start ? parent : findRoot(parent);
}

main();
