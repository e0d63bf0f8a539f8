import { parentPort, workerData } from 'node:worker_threads';
import { readRulePack } from '../exact/rule-pack.ts';
import { createEngine, type ScrubEngine } from '../hardened/engine.ts';
import type { ScanReply, ScanRequest } from './scan-messages.ts';

/** The thread that scans: a pattern that takes too long ends it, not the daemon. */
function main(rulesDir: string): void {
  let engine: ScrubEngine;
  try {
    engine = createEngine(readRulePack(rulesDir));
  } catch (thrown) {
    reply({ kind: 'refused', message: thrown instanceof Error ? thrown.message : 'the rules cannot be read' });
    return;
  }
  parentPort?.on('message', (request: ScanRequest) => reply(scan(engine, request)));
  reply({ kind: 'ready' });
  warmUp(engine);
}

function scan(engine: ScrubEngine, { id, texts }: ScanRequest): ScanReply {
  try {
    return { kind: 'found', id, findings: texts.map((text) => engine.scan(text)) };
  } catch (thrown) {
    return { kind: 'failed', id, problem: thrown instanceof Error ? thrown.name : typeof thrown };
  }
}

/** Ordinary lines that hold the common keywords, some with a value, so that the first call does not pay for them. */
function warmUp(engine: ScrubEngine): void {
  const line =
    'the password, secret, token and key of https://example.com/ were read: authorization, cookie, data: ok\n';
  const settings =
    'EXAMPLE_PASSWORD=example-1\nEXAMPLE_TOKEN=example-1\n"api_key": "example-1"\ntoken: example-12345\n';
  for (let round = 0; round < 3; round++) {
    engine.scan(line.repeat(40));
    engine.scan(settings.repeat(4));
  }
}

function reply(message: ScanReply): void {
  parentPort?.postMessage(message);
}

main(String(workerData));
