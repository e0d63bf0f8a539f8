import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the whole audit log again, changed: what a program that has its key can do. The daemon must not run. */
export function writeLogAgain(home: string, change: (line: string) => string): void {
  const state = join(home, 'state');
  const dir = join(state, 'audit');
  const key = readFileSync(join(state, 'audit.key'));
  const macOf = (label: string, previous: string, covered: string) =>
    createHmac('sha256', key).update(`${label}${previous}\n`).update(covered).digest('base64url');
  let previous = '';
  for (const name of readdirSync(dir).sort()) {
    const lines = readFileSync(join(dir, name), 'utf8').trimEnd().split('\n');
    const again = lines.map((line) => {
      const covered = change(`${line.slice(0, line.lastIndexOf(',"mac":'))}}`);
      previous = macOf('contextd audit log 1\n', previous, covered);
      return `${covered.slice(0, -1)},"mac":"${previous}"}\n`;
    });
    writeFileSync(join(dir, name), again.join(''));
  }
  const headFile = join(state, 'audit.head');
  const head = JSON.parse(readFileSync(headFile, 'utf8').split('\n')[0] ?? '');
  const covered = JSON.stringify({ ...head, mac: previous });
  writeFileSync(headFile, `${`${covered}\n${macOf('contextd audit head 1\n', '', covered)}`.padEnd(511)}\n`);
}
