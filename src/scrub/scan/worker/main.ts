import { parentPort, workerData } from 'node:worker_threads';
import { letOthersGoFirst } from '../../../core/nice-thread.ts';
import type { ScrubEngine } from '../../hardened/engine.ts';
import { scanNamed } from '../../leaves.ts';
import { readDotenv } from '../../vault/seeds/credential-files.ts';
import { seedValues } from '../../vault/seeds/seed-value.ts';
import { Engines } from './engines.ts';
import type { ScanReply, ScanRequest, ScanThreadData, SeedRequest, UpkeepRequest } from './messages.ts';

/** The thread that scans: a pattern that takes too long ends it, not the daemon. */
function main(sources: ScanThreadData): void {
  letOthersGoFirst();
  let engines: Engines;
  try {
    engines = new Engines(sources);
  } catch (thrown) {
    reply({ kind: 'refused', message: thrown instanceof Error ? thrown.message : 'the rules cannot be read' });
    return;
  }
  parentPort?.on('message', (request: ScanRequest | SeedRequest | UpkeepRequest) => {
    if (request.kind === 'collect') collect();
    else if (request.kind === 'warm') warmUp(engines.for(null));
    else reply(answer(engines, request));
  });
  reply({ kind: 'ready' });
}

function answer(engines: Engines, request: ScanRequest | SeedRequest): ScanReply {
  const { id } = request;
  try {
    if (request.kind === 'seeds')
      return { kind: 'seeds', id, results: request.texts.map((text) => seedValues(readDotenv(text))) };
    const engine = engines.for(request.workspace);
    return { kind: 'scan', id, results: request.texts.map((text) => scanNamed(engine, text)) };
  } catch (thrown) {
    return { kind: 'failed', id, problem: thrown instanceof Error ? thrown.name : typeof thrown };
  }
}

/** Returns memory after a large text. Needs --expose-gc. */
function collect(): void {
  void globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}

/** Ordinary lines that hold the common keywords, some with a value. */
const WARM_UP = [
  'the password, secret, token and key of https://example.com/ were read: authorization, cookie, data: ok\n'.repeat(40),
  'EXAMPLE_PASSWORD=example-1\nEXAMPLE_TOKEN=example-1\n"api_key": "example-1"\ntoken: example-12345\n'.repeat(4),
];

/** Compiles the expressions that most outputs need, which takes a second of a processor. */
function warmUp(engine: ScrubEngine): void {
  for (let round = 0; round < 3; round++) for (const text of WARM_UP) engine.scan(text);
  reply({ kind: 'warm' });
}

function reply(message: ScanReply): void {
  parentPort?.postMessage(message);
}

main(workerData);
