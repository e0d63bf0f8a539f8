import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnvironment } from '../src/config/env.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { resolvePaths } from '../src/config/paths.ts';
import { isErrno } from '../src/core/errors.ts';
import type { GitleaksPlaces } from '../src/scrub/gitleaks/binary.ts';
import { type Account, accountsOf } from './lib/accounts.ts';
import { describeMachine } from './lib/machine.ts';
import { installPeers } from './lib/peers.ts';
import { render } from './lib/render.ts';
import type { Outcome, SectionOptions } from './lib/section.ts';
import { runSection } from './lib/section-process.ts';
import { SECTIONS } from './sections.ts';

const USAGE = `usage: npm run bench -- [section ...] [--rounds N] [--sandboxes N] [--calls N] [--as root|user] [--embedding-model DIR|URL]
       [--retrieval-sets DIR] [--tool-sets DIR] [--misses FILE] [--catalogs DIR]
sections: ${Object.keys(SECTIONS).join(' ')}
`;

interface Choice {
  sections: string[];
  options: SectionOptions;
  accounts: Account[];
}

interface Entry extends Outcome {
  section: string;
  account: string;
}

async function main(): Promise<void> {
  const choice = readChoice();
  const machine = describeMachine();
  say(
    Object.entries(machine)
      .map((entry) => entry.join(': '))
      .join(', '),
  );
  for (const line of await installPeers(choice.sections)) say(line);
  const entries: Entry[] = [];
  for (const section of choice.sections) {
    const { title = section, isForEachAccount = true } = SECTIONS[section] ?? {};
    for (const account of isForEachAccount ? choice.accounts : choice.accounts.slice(0, 1)) {
      say(`\n== ${title} · ${account.name}\n`);
      const outcome = await runSection(section, account, choice.options, (part) => say(render(part)));
      entries.push({ section, account: account.name, ...outcome });
    }
  }
  say(`written to ${writeResults(choice.sections, { machine, ...choice.options, entries })}`);
}

function readChoice(): Choice {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      sandboxes: { type: 'string' },
      calls: { type: 'string' },
      as: { type: 'string' },
      'embedding-model': { type: 'string' },
      'retrieval-sets': { type: 'string' },
      'tool-sets': { type: 'string' },
      misses: { type: 'string' },
      catalogs: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const unknown = positionals.filter((name) => !Object.hasOwn(SECTIONS, name));
  const accounts = accountsOf(values.as);
  if (unknown.length > 0 || accounts.length === 0) {
    process.stderr.write(USAGE);
    process.exit(2);
  }
  return {
    sections: positionals.length > 0 ? positionals : Object.keys(SECTIONS),
    options: {
      rounds: Number(values.rounds ?? 40),
      sandboxes: Number(values.sandboxes ?? 500),
      calls: Number(values.calls ?? 20_000),
      gitleaks: gitleaksPlaces(),
      qdrantUrl: process.env.QDRANT_URL ?? null,
      embeddingModel: values['embedding-model'] ?? null,
      retrievalSets: values['retrieval-sets'] ?? null,
      toolSets: values['tool-sets'] === undefined ? null : resolve(values['tool-sets']),
      catalogs: values.catalogs === undefined ? null : resolve(values.catalogs),
      misses: values.misses === undefined ? null : resolve(values.misses),
    },
    accounts,
  };
}

function gitleaksPlaces(): GitleaksPlaces {
  const environment = readEnvironment();
  const { gitleaksDir, userGitleaksDir } = resolvePaths(environment, findInstallRoot());
  return { directories: [gitleaksDir, userGitleaksDir], searchPath: environment.path };
}

/** Writes to `bench/results`, or to the temporary directory if this user may not write there. */
function writeResults(sections: readonly string[], results: object): string {
  const isWhole = sections.length === Object.keys(SECTIONS).length;
  const name = isWhole ? 'latest.json' : `latest-${sections.join('-')}.json`;
  const text = `${JSON.stringify(results, null, 2)}\n`;
  try {
    const dir = join(findInstallRoot(), 'bench', 'results');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EROFS')) throw error;
    writeFileSync(join(tmpdir(), `bench-${name}`), text);
    return join(tmpdir(), `bench-${name}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

await main();
