import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';

/** The length, in UTF-16 units, of the pieces of source and log that alternate. */
const SOURCE_UNITS = 3000;
const LOG_UNITS = 2000;

/** The texts to count, of any length. They are the same in every process. */
export const TOKEN_INPUTS = {
  'source and log': mixed,
  'the letter a': (units: number) => 'a'.repeat(units),
  base64: (units: number) => pseudoRandom(units, 'base64').replaceAll('=', '').slice(0, units),
  emoji: (units: number) => '😀👩‍👩‍👧🇩🇪'.repeat(units / 14 + 1).slice(0, units - (units % 14)),
  spaces: (units: number) => ' '.repeat(units),
} as const;

export type TokenInput = keyof typeof TOKEN_INPUTS;

function mixed(units: number): string {
  const source = projectSource();
  const log = buildLog(units);
  const parts: string[] = [];
  for (let i = 0; i * (SOURCE_UNITS + LOG_UNITS) < units; i++) {
    const from = (i * SOURCE_UNITS) % source.length;
    parts.push(source.slice(from, from + SOURCE_UNITS), log.slice(i * LOG_UNITS, (i + 1) * LOG_UNITS));
  }
  return parts.join('').slice(0, units);
}

function projectSource(): string {
  const dir = join(findInstallRoot(), 'src');
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files
    .sort()
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('\n');
}

function buildLog(units: number): string {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < units; i++) {
    const hash = createHash('sha256').update(String(i)).digest('hex').slice(0, 8);
    const line = `2026-11-21T10:${String(i % 60).padStart(2, '0')}:07Z [build] (${i}) cc -O2 -c src/part_${i % 97}.c -o out/${hash}.o`;
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join('\n');
}

function pseudoRandom(units: number, encoding: 'base64'): string {
  const blocks: Buffer[] = [];
  for (let i = 0; i * 32 < units; i++) blocks.push(createHash('sha256').update(String(i)).digest());
  return Buffer.concat(blocks).toString(encoding);
}
