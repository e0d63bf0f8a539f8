import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Installation, install } from '../helpers/installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
  writeFileSync(join(at.project, 'in.txt'), 'one\ntwo\n');
});
afterAll(() => at.remove());

const TOOL = '.claude/tools/safe_bash/safe_bash';
const sh = (line: string) => at.run('/bin/bash', ['-c', line]);

it.each([
  ['words', `${TOOL} 'cat' <in.txt`],
  ['JSON', `${TOOL} '{"command":"cat"}' <in.txt`],
  ['flags', `${TOOL} --command cat <in.txt`],
])('issue 30.2.6 says that a file on standard input was not read: %s', async (_form, line) => {
  expect((await sh(line)).stderr).toContain('[contextd standard input (8 bytes) was not read: ');
});

it.each([
  ['a here-document', `${TOOL} 'cat' <<'END'\none\ntwo\nEND`],
  ['a pipe', `cat in.txt | ${TOOL} 'cat'`],
  ['a pipe, with a command that waits', `cat in.txt | ${TOOL} 'sleep .2'`],
])('issue 30.2.6 says that %s was not read', async (_form, line) => {
  expect((await sh(line)).stderr).toContain('[contextd standard input');
});

it.each([
  ['input that is read', `echo 'echo hi' >cmd; ${TOOL} - <cmd`],
  ['nothing', `${TOOL} 'true' </dev/null`],
  ['an empty file', `: >empty; ${TOOL} 'true' <empty`],
  ['a pipe that is read', `echo 'echo hi' | ${TOOL} -`],
  ['an empty pipe', `true | ${TOOL} 'true'`],
  ['a pipe that stays open', `mkfifo open; exec 3<>open; ${TOOL} 'true' <&3`],
  ['a pipe that a loop reads', `cat in.txt | while read -r name; do ${TOOL} "echo $name"; done`],
  ['a pipe that another command of the group reads', `cat in.txt | { ${TOOL} 'true'; cat; }`],
  ['a file that a loop reads', `while read -r name; do ${TOOL} "echo $name"; done <in.txt`],
])('issue 30.2.6 says nothing about %s', async (_what, line) => {
  expect(await sh(line)).toMatchObject({ code: 0, stderr: '' });
});
