import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Envelope } from '../../src/core/envelope.ts';
import { loadCounter } from '../../src/tokens/counter.ts';
import { type Caller, installForBench } from '../lib/machine.ts';
import type { Fact, Section } from '../lib/section.ts';

/** An output, and what the person who ran the command wants to find in it. */
interface Recording {
  name: string;
  /** A recorded output of test/fixtures/outputs, or a command run in this checkout when the benchmark runs. */
  from: { file: string } | { command: string };
  exitCode: number;
  /** If the answer does not show this, a follow-up question asks for it. */
  wanted: RegExp;
  /** The follow-up question. */
  followUp: { grep: string };
}

const RECORDINGS: readonly Recording[] = [
  file('git status', 'git-status-colour.txt', 0, /modified/),
  file('tsc, two errors', 'failed-tsc.txt', 2, /error TS/),
  file('git clone, progress', 'git-clone-terminal.txt', 0, /done/),
  file('apt-get install, progress', 'apt-get-terminal.txt', 0, /Setting up jq/),
  file('failed vitest run', 'failed-vitest.txt', 1, /AssertionError/),
  live('find, one of 900 files', 'find src test -type f | sort', /src\/core\/errors\.ts/, 'core/errors'),
  live('grep -rn, one of 900 lines', 'grep -rn "export function" src | sort', /function fitCut\(/, 'function fitCut'),
  live('npm ls --all', 'npm ls --all', /re2js@/, 're2js@'),
  live('npm ls --json', 'npm ls --json', /"re2js"/, '"re2js"'),
  live('all documents, one word of them', 'cat CHANGELOG.md docs/*.md', /ARGS_INVALID/, 'ARGS_INVALID'),
];

/** Tokens that answers save. The follow-up questions that were needed are subtracted, so the result can be negative. */
export const savingsSection: Section = {
  async run() {
    const at = await installForBench({});
    try {
      const facts: Fact[] = [{ name: 'output', value: figures(['whole', 'answer', 'follow-up', 'net', 'of whole']) }];
      let [whole, net] = [0, 0];
      for (const recording of RECORDINGS) {
        writeFileSync(join(at.project, 'output.txt'), textOf(recording.from, at.root));
        const cost = await at.withDaemon((daemon) =>
          costOf(recording, readFileSync(join(at.project, 'output.txt'), 'utf8'), daemon),
        );
        whole += cost.whole;
        net += cost.net;
        facts.push({ name: recording.name, value: lineOf(cost) });
      }
      facts.push({ name: 'together', value: figures([whole, '', '', net, share(net, whole)]) });
      return { tables: [], facts };
    } finally {
      await at.remove();
    }
  },
};

interface Cost {
  whole: number;
  answer: number;
  followUp: number;
  net: number;
}

async function costOf({ exitCode, wanted, followUp }: Recording, text: string, daemon: Caller): Promise<Cost> {
  const counter = loadCounter();
  const whole = counter.count(text);
  const first = await ask(daemon, 'safe_bash', { command: `cat output.txt; exit ${exitCode}` });
  const answer = first.tokens_used;
  const isShown = wanted.test(String(first.data.stdout));
  const input = { ref: first.refs[0], view: followUp };
  const more = isShown ? null : await ask(daemon, 'tool_view', input);
  if (more !== null && !wanted.test(String(more.data.stdout)))
    throw new Error(`${wanted} is not found by ${followUp.grep}`);
  const asked = more === null ? 0 : counter.count(`.claude/tools/tool_view/tool_view '${JSON.stringify(input)}'`);
  const again = asked + (more?.tokens_used ?? 0);
  return { whole, answer, followUp: again, net: whole - answer - again };
}

async function ask(daemon: Caller, tool: string, input: object): Promise<Envelope> {
  const envelope: Envelope = JSON.parse(await daemon.call(tool, input));
  return envelope;
}

function textOf(from: Recording['from'], root: string): string {
  if ('file' in from) return readFileSync(join(root, 'test/fixtures/outputs', from.file), 'utf8');
  return execFileSync('bash', ['-c', from.command], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function file(name: string, fixture: string, exitCode: number, wanted: RegExp): Recording {
  return { name, from: { file: fixture }, exitCode, wanted, followUp: { grep: wanted.source } };
}

function live(name: string, command: string, wanted: RegExp, grep: string): Recording {
  return { name, from: { command }, exitCode: 0, wanted, followUp: { grep } };
}

function lineOf({ whole, answer, followUp, net }: Cost): string {
  return figures([whole, answer, followUp, net, share(net, whole)]);
}

function share(net: number, whole: number): string {
  return `${Math.round((100 * net) / whole)} %`;
}

function figures(cells: readonly (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(9)).join(' ');
}
